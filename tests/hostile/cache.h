/* Damaged, foreign and planted files in the cache of compiled programs. */
#ifndef VYRE_TESTS_HOSTILE_CACHE_H
#define VYRE_TESTS_HOSTILE_CACHE_H

#include <stddef.h>
#include <stdint.h>

/* Runs `command` once for each damage: it must end by itself with the bytes of the reference
 * backend. Returns how many did not, and prints them; `out_note` says what could not be tried. */
size_t hostile_cache_run(const char *command, size_t count, uint64_t seed, const char **out_note);

#endif
