/* Streams of other libraries, on which they shared arrays. */
#ifndef VYRE_PYTHON_STREAM_H
#define VYRE_PYTHON_STREAM_H

#include "array.h"

/* Whether the device of an array orders work with the stream that the array keeps. */
bool stream_is_kept(const array *self);

/* Waits for the work that is in the stream of an array now. Does nothing for other arrays. Returns
 * -1 with an exception if that fails. */
int stream_settle(const array *self);

#endif
