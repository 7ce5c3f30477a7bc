/* Numbers that longer runs of a test set in the environment: how many programs, the first seed. */
#ifndef VYRE_TESTS_SETTINGS_H
#define VYRE_TESTS_SETTINGS_H

#include <stdint.h>
#include <stdlib.h>

static inline uint64_t number_from(const char *variable, uint64_t otherwise) {
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

#endif
