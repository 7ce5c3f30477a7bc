/* Results: arrays for the outputs that a call makes. */
#ifndef VYRE_PYTHON_RESULTS_H
#define VYRE_PYTHON_RESULTS_H

#include "call.h"

/* Returns a new array for an output: NumPy's, or one on the device of the call's arrays. It has the
 * sides that the program declares, or the shape of the argument that has its length. */
PyObject *results_make_array(const call *self, const argument_spec *argument, uint64_t length);

#endif
