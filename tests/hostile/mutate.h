/* Bytes made from bytes: what libFuzzer would do, the same on every machine. */
#ifndef VYRE_TESTS_HOSTILE_MUTATE_H
#define VYRE_TESTS_HOSTILE_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* Seeds, each a file of a folder. */
typedef struct hostile_seed {
    uint8_t *data;
    size_t size;
} hostile_seed;

typedef struct hostile_seeds {
    hostile_seed *items;
    size_t count;
} hostile_seeds;

/* Reads a folder in the order of its names; ends the process where it cannot. */
hostile_seeds hostile_seeds_read(const char *folder);

/* The words of a libFuzzer dictionary, without escapes. */
hostile_seeds hostile_words_read(const char *path);

/* What hostile_mutate draws from; set before each input. */
void hostile_mutate_start(uint64_t random);

/* In place of LLVMFuzzerMutate: changes up to `most` bytes, and returns how many there are then. */
size_t hostile_mutate(uint8_t *data, size_t size, size_t most);

/* The same for text: words of `words` and pieces of `others` come in, too. */
size_t hostile_mutate_text(uint8_t *data, size_t size, size_t most, const hostile_seeds *words,
                           const hostile_seeds *others);

#endif
