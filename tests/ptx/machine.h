/* A machine that runs PTX on the host, so that kernels can be held against the oracle where there
 * is no GPU. It knows the instructions that the cuda backend writes, and is strict: a register that
 * is read before it is written, an access outside of the memory that it was told of, or one that is
 * not aligned, ends the launch with a message. What PTX leaves open comes out as garbage: a
 * division by zero, the bits of a NaN, a NaN as an integer. Threads take turns in an order drawn
 * from a seed, so that missing barriers show.
 *
 * parse.c  text to instructions     run.c  threads, barriers, warps     operate.c  instructions
 */
#ifndef VYRE_TESTS_PTX_MACHINE_H
#define VYRE_TESTS_PTX_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ptx_module ptx_module;

typedef struct ptx_error {
    char text[320];
} ptx_error;

/* NULL, and why, if the text is none that the machine knows. The text is not kept. */
ptx_module *ptx_module_make(const char *text, ptx_error *out_error);
void ptx_module_free(ptx_module *module); /* NULL is allowed */

/* Whether there is an entry of that name, and the bytes of its parameter. */
bool ptx_module_has(const ptx_module *module, const char *entry, uint32_t *out_frame_bytes);

/* Memory that global accesses may go to: an address is one of the host. */
typedef struct ptx_range {
    const void *data;
    size_t size;
} ptx_range;

typedef struct ptx_launch {
    const char *entry;
    const void *frame;
    uint32_t grid[3], threads, dynamic_bytes;
    const ptx_range *ranges;
    size_t range_count;       /* 0: any address will do */
    uint64_t seed, max_steps; /* max_steps: 0 for many */
} ptx_launch;

/* False, and why, if something is wrong; memory is then as far as it came. */
bool ptx_launch_run(const ptx_module *module, const ptx_launch *launch, ptx_error *out_error);

#endif
