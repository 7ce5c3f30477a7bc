/* Calls a backend's compiler, for no longer than a deadline.
 *
 * A compiler cannot be called off. With a deadline it runs on a thread of its own; once the time is
 * up the caller returns TIMEOUT, and the thread keeps what the call uses until the compiler is
 * done, the device included. */
#ifndef VYRE_RUNTIME_COMPILE_H
#define VYRE_RUNTIME_COMPILE_H

#include "runtime/device.h"

/* In a call of the device. `deadline_ns` is by vyre_now_ns; 0: none, and the call is a plain one.
 * The host owns the artifact in `out_native`, after an error too. */
VYRE_MUST_USE vyre_status vyre_compile_until(vyre_device *device, const vyre_compile *compile,
                                             uint64_t deadline_ns, vyre_native *out_native);

/* Waits for compilers that go on although their callers have left. No call is under way. */
void vyre_compiles_wait(vyre_device *device);

#endif
