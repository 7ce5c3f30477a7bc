/* Random numbers that are the same on every machine: splitmix64. Not for secrets. */
#ifndef VYRE_BASE_RANDOM_H
#define VYRE_BASE_RANDOM_H

#include <stdint.h>

static inline uint64_t vyre_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* A number below `bound`, which is far below 2^64. */
static inline uint64_t vyre_random_below(uint64_t *state, uint64_t bound) {
    return vyre_random(state) % bound;
}

#endif
