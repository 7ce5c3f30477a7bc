/* Fills: which `out` buffers and scratch arrays a program overwrites from end to end before anybody
 * reads them. They start as zeros, but nobody can tell, so nobody has to fill them.
 *
 * That holds for runs over the program's own domains: who runs it over another one
 * (vyre_dispatch_config.grid) fills everything. A run that is not completed leaves what was there
 * before. No pass may drop a store because zeros are there already.
 */
#ifndef VYRE_PASS_FILL_H
#define VYRE_PASS_FILL_H

#include <vyre/program.h>

#include "base/strbuf.h"

/* By resource: the phase that overwrites it; VYRE_NONE if it must be filled, or never is. */
VYRE_MUST_USE vyre_status vyre_fill_find(const vyre_program *program, uint32_t *out_phases);

/* The same for people, a line an array that starts as zeros, `prefix` in front of each. */
VYRE_MUST_USE vyre_status vyre_fill_print(const vyre_program *program, const char *prefix,
                                          vyre_strbuf *out);

#endif
