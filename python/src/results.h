/* Results: arrays for the outputs that a call makes. */
#ifndef VYRE_PYTHON_RESULTS_H
#define VYRE_PYTHON_RESULTS_H

#include "device.h"
#include "spec.h"

/* Returns a new array for an output: NumPy's, or one on the device `where` if that is not NULL. It
 * has the shape of `like` if that has as many elements; `like` may be NULL. */
PyObject *results_make_array(const argument_spec *argument, uint64_t length, const view *like,
                             device_object *where);

#endif
