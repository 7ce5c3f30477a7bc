/* The standard library: the operations of ops/, which the build reads.
 *
 * The build checks ops/ and writes the definitions as numbers and strings (tools/write-library), so
 * a process parses nothing to have them. A program is built from its text when it is asked for,
 * once; readers of one that is built take no lock. */
#ifndef VYRE_DIALECT_LIBRARY_H
#define VYRE_DIALECT_LIBRARY_H

#include <stdatomic.h>

#include "dialect/registry.h"

/* Written by the build. Numbers and not pointers, so that the loader has nothing to relocate in a
 * process that needs no operation. The first is how many operations there are. A string is its
 * place in the strings, 0 for none, a source its place in the texts. */
extern const uint32_t vyre_library_numbers[];
extern const char vyre_library_strings[], vyre_library_texts[];
extern _Atomic(vyre_program *) vyre_library_built[];

/* Where the programs of an operation come from. */
typedef struct vyre_library_entry {
    const char *text; /* its source, and behind that a program for each function */
    size_t size;
    const char *const *names;       /* of the programs there: its own, then those of its variants */
    _Atomic(vyre_program *) *built; /* in the same order; NULL until asked for, then kept */
} vyre_library_entry;

/* The operations by id, without programs; they live as long as the process. Only the first call may
 * run out of memory. */
VYRE_MUST_USE vyre_status vyre_library_read(const vyre_operation **out_operations,
                                            size_t *out_count);

/* Whether the definition is one of these. */
bool vyre_library_has(const vyre_operation *operation);

/* The program of an operation that has an entry, or of its variant. */
VYRE_MUST_USE vyre_status vyre_library_program(const vyre_operation *operation,
                                               const vyre_variant *variant,
                                               const vyre_program **out_program);

/* Parts of what is linked in: the library, and the dialect `io`, which the host does. */
VYRE_MUST_USE vyre_status vyre_linked_library(vyre_streams *streams);
VYRE_MUST_USE vyre_status vyre_linked_io(vyre_streams *streams);

#endif
