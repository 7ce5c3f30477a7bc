/* Kernels of at most 4 kB that are made to be slow to compile. */
#ifndef VYRE_TESTS_HOSTILE_KERNELS_H
#define VYRE_TESTS_HOSTILE_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

enum { HOSTILE_KERNEL_BYTES = 4096 };

typedef struct hostile_kernel {
    const char *kind;
    bool is_racy; /* more than one invocation may give other bytes every time */
    bool is_long; /* it may run for hours */
    vyre_strbuf text;
} hostile_kernel;

/* A kernel depends on its number alone; numbers in a row are of different kinds. Ends the process
 * where there is no memory. */
hostile_kernel hostile_kernel_make(uint64_t number);

#endif
