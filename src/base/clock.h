/* The clock that all durations are taken with. */
#ifndef VYRE_BASE_CLOCK_H
#define VYRE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds since some moment of the past; never goes back. */
static inline uint64_t vyre_now_ns(void) {
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
