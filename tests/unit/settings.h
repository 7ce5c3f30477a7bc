/* How much tests do, from the environment.
 *
 *   VYRE_TEST_WORK   percent of the usual amount of random programs, operands and turns; 100 if it
 *                    is not set. `./dev test full` asks for more.
 *   VYRE_TEST_SEED   where random programs start; 1 if it is not set. */
#ifndef VYRE_TESTS_SETTINGS_H
#define VYRE_TESTS_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static inline uint64_t number_from(const char *variable, uint64_t otherwise) {
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* The usual amount, or that with a sanitizer, in the percentage asked for; never nothing. */
static inline uint64_t test_work(uint64_t usual, uint64_t sanitized) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    uint64_t amount = sanitized;
    (void)usual;
#else
    uint64_t amount = usual;
    (void)sanitized;
#endif
    amount = amount * number_from("VYRE_TEST_WORK", 100) / 100;
    return amount ? amount : 1;
}

/* Whether item i of a list is for this build: with a sanitizer one in four is, which without one
 * are all tested. */
static inline bool test_takes(uint64_t i) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return i % 4 == 0 || number_from("VYRE_TEST_WORK", 100) >= 400;
#else
    (void)i;
    return true;
#endif
}

static inline uint64_t test_seed(void) {
    return number_from("VYRE_TEST_SEED", 1);
}

#endif
