/* The arguments of a witness as inputs of its operation's program. */
#ifndef VYRE_CONFORM_WITNESS_H
#define VYRE_CONFORM_WITNESS_H

#include <vyre/dialect.h>

#include "values/bind.h"

/* Deinit the binding whatever comes out. */
VYRE_MUST_USE vyre_status cli_witness_bind(const vyre_operation *operation,
                                           const vyre_program *program, const char *arguments,
                                           cli_binding *out_binding);

#endif
