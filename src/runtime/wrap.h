/* The wrapper for backends without phases or grid barriers of their own: programs that need them
 * are run as a row of programs of one phase; everything else goes straight through. */
#ifndef VYRE_RUNTIME_WRAP_H
#define VYRE_RUNTIME_WRAP_H

#include "runtime/slots.h"

/* Takes over `inner`, which vyre_backend_adopt gave, also on failure. Gives `inner` itself where it
 * has both features. */
VYRE_MUST_USE vyre_status vyre_wrap_phases(vyre_backend *inner, vyre_backend **out_backend);

/* Whether a pipeline of the wrapper has one of the backend in it. */
bool vyre_wrap_is_compiled(const vyre_native *native);

#endif
