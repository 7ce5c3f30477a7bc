/* Whether a program's bytes can depend on the order in which invocations run. */
#ifndef VYRE_IR_DETERMINISM_H
#define VYRE_IR_DETERMINISM_H

#include <vyre/program.h>

/* The class of a valid program, and why it is not proven deterministic (NULL where it is; from
 * vyre_alloc). False without memory. */
bool vyre_determinism_classify(const vyre_ir *ir, vyre_determinism *out_class, char **out_reason);

#endif
