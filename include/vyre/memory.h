/* Memory: host memory that devices copy at the full speed of their bus.
 *
 *     void *x;
 *     status = vyre_memory_allocate(size, &x);
 *     ...                                          fill it, run kernels on it, read it
 *     status = vyre_memory_free(x);
 *
 * A GPU copies pinned memory directly. The library copies other memory through pinned parts, with
 * several CPUs. Memory from vyre_memory_allocate, and memory that the caller pins, is pinned for
 * all devices that the process has open now or opens later.
 *
 * Pinned memory stays in RAM, and pinning takes about as long as writing the memory once. So pin
 * memory that is used many times, not memory for one run.
 *
 * The library never pins memory of the caller on its own. If pinned memory were freed and its
 * addresses used again, devices would copy the old pages.
 *
 * Any thread may make these calls. */
#ifndef VYRE_MEMORY_H
#define VYRE_MEMORY_H

#include <vyre/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Allocates memory that begins at a page, with undefined contents. `size` may be 0. Fails if an
 * open device cannot pin the memory. A lost device pins it after it was recovered. A device that is
 * opened or recovered later and cannot pin it says so in the log, and copies it like other memory.
 */
VYRE_API VYRE_MUST_USE vyre_status vyre_memory_allocate(size_t size, void **out_memory);
/* Frees memory from vyre_memory_allocate; NULL is allowed. No run, copy or resident buffer may use
 * it any more. If a device cannot unpin it, the call fails and frees nothing; it may be repeated.
 */
VYRE_API VYRE_MUST_USE vyre_status vyre_memory_free(void *memory);

/* Pins memory of the caller, of any alignment. It must not overlap memory that is pinned already.
 * The caller must unpin the memory before freeing it. After a failure it is not pinned, unless the
 * status says that a device still has it. */
VYRE_API VYRE_MUST_USE vyre_status vyre_memory_pin(void *memory, size_t size);
/* Unpins memory; `memory` is the address that was given to vyre_memory_pin. No run, copy or
 * resident buffer may use it any more. If a device cannot unpin it, the call fails; it may be
 * repeated. */
VYRE_API VYRE_MUST_USE vyre_status vyre_memory_unpin(void *memory);

#ifdef __cplusplus
}
#endif

#endif
