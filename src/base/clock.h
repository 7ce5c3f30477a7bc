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

/* When a timeout that begins now is over. 0, which means none, stays 0. */
static inline uint64_t vyre_deadline_ns(uint64_t timeout_ns) {
    uint64_t now = timeout_ns ? vyre_now_ns() : 0;
    return timeout_ns < UINT64_MAX - now ? now + timeout_ns : 0;
}

/* vyre_now_ns to some milliseconds, for a few nanoseconds, also where reading the clock of the
 * hardware takes a call of the system. */
static inline uint64_t vyre_now_about_ns(void) {
#ifdef CLOCK_MONOTONIC_COARSE
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#else
    return vyre_now_ns();
#endif
}

#endif
