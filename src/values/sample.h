/* Samples: arguments of a size for an operation, for measurements and for trying it.
 *
 * Its manifest says how to make them (docs/dialects.md). Where it does not, and all that the
 * operation takes are buffers, each has n random elements, or as many as its declaration says. The
 * same operation and size give the same bytes on every machine. */
#ifndef VYRE_VALUES_SAMPLE_H
#define VYRE_VALUES_SAMPLE_H

#include <vyre/dialect.h>

#include "values/bind.h"

bool values_sample_exists(const vyre_operation *operation);

/* The arguments of size n, which is the number of elements of the main buffer, more or less: bytes
 * of all arguments grow as n does. `program` is the operation's or a variant of it. Deinit the
 * binding whatever comes out. */
VYRE_MUST_USE vyre_status values_sample_bind(values_binding *binding,
                                             const vyre_operation *operation,
                                             const vyre_program *program, uint64_t n);

/* The same, where `words` give some of the arguments. Without an operation there is what `program`
 * alone allows. */
VYRE_MUST_USE vyre_status values_sample_complete(values_binding *binding,
                                                 const vyre_operation *operation,
                                                 const vyre_program *program, uint64_t n,
                                                 const char *const *words, size_t count,
                                                 bool stdin_used);

/* Counts the arithmetic operations of such a run; false if the manifest has no `work`. */
bool values_sample_work(const vyre_operation *operation, uint64_t n, double *out_operations);

#endif
