/* The reference backend as the driver sees it. */
#ifndef VYRE_REFERENCE_BACKEND_H
#define VYRE_REFERENCE_BACKEND_H

#include "driver/backend.h"

/* Its state may be a vyre_reference_options; NULL means the defaults. */
extern const vyre_backend vyre_backend_reference;

/* The same for conformance, with a budget of steps that suits small programs: one that loops
 * endlessly after having been cut down ends soon. */
extern const vyre_backend vyre_backend_oracle;

/* Whether a program is one that others can be compared by: nothing the sanitizers call an error,
 * and the same bytes in several schedules. */
bool vyre_reference_has_one_answer(const vyre_program *program, const vyre_input *inputs,
                                   size_t input_count);

#endif
