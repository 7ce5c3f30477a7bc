/* Errors: statuses and refused arguments as exceptions of vyre._errors. */
#ifndef VYRE_PYTHON_ERROR_H
#define VYRE_PYTHON_ERROR_H

#include "python.h"

/* Raises a status, which it frees. Returns NULL. */
PyObject *error_raise(vyre_status status);

/* Raises the status of a parse, with the diagnostics of a text. Frees the status. */
PyObject *error_raise_diagnostics(vyre_status status, const vyre_diagnostics *diagnostics,
                                  const char *name, const char *text, size_t size);

/* Whether an argument has the wrong type (also a TypeError) or the wrong value (a ValueError). */
typedef enum error_flavour { ERROR_VALUE, ERROR_TYPE } error_flavour;

/* Raises an InvalidArgumentError. `fix` is the advice without "Fix: ". Returns -1. */
int error_refuse(error_flavour flavour, const char *fix, const char *format, ...) VYRE_PRINTF(3, 4);

#endif
