/* The reference backend as the driver sees it. */
#ifndef VYRE_REFERENCE_BACKEND_H
#define VYRE_REFERENCE_BACKEND_H

#include <vyre/reference.h>
#include <vyre/registry.h>

#include "runtime/builtin.h"

extern const vyre_bundle vyre_reference_bundle;
extern const vyre_builtin vyre_reference_builtin;

/* A device that runs with these options instead of the defaults, in any registry or none. */
VYRE_MUST_USE vyre_status vyre_reference_open(const vyre_reference_options *options,
                                              vyre_device **out_device);

/* The same for conformance, with a budget of steps that suits small programs: one that loops
 * endlessly after having been cut down ends soon. */
VYRE_MUST_USE vyre_status vyre_reference_open_oracle(vyre_device **out_device);

/* Whether a program is one that others can be compared by: nothing the sanitizers call an error,
 * and the same bytes in several schedules. */
bool vyre_reference_has_one_answer(const vyre_program *program, const vyre_input *inputs,
                                   size_t input_count);

#endif
