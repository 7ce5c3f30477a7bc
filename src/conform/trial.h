/* A trial: a program with the arguments of one run, which owns both. Arguments are known by the
 * names they have in the program, so that they still fit when it is cut down. */
#ifndef VYRE_CONFORM_TRIAL_H
#define VYRE_CONFORM_TRIAL_H

#include <vyre/dispatch.h>

typedef struct conform_trial_value {
    char *name;
    uint8_t *data;
    size_t size; /* bytes */
} conform_trial_value;

typedef struct conform_trial {
    vyre_program *program;
    conform_trial_value *values; /* there may be more than the program takes */
    size_t value_count;
    /* By output of the program, how it is compared: conform_property; borrowed. NULL: all byte for
     * byte, as it must be where a trial is cut down. */
    const uint8_t *properties;
    /* Runs without a timeout where nothing else can hang than the process: on devices that are
     * software. They may have other code for such runs. */
    bool is_untimed;
} conform_trial;

void conform_trial_free(conform_trial *trial);

/* Adds an argument of `count` elements, zeros; NULL without memory. */
uint8_t *conform_trial_add(conform_trial *trial, const char *name, vyre_type type, size_t count);
void conform_element_put(uint8_t *data, size_t index, vyre_type type, uint64_t bits);

/* The inputs of `program`, in its order, borrowed from the values of these names; vyre_free the
 * list. NULL without memory, or if one of them is missing. */
vyre_input *conform_trial_inputs(const conform_trial *trial, const vyre_program *program,
                                 size_t *out_count);

/* A trial drawn from a seed: a valid program, free of data races by construction and with one
 * answer, and arguments for it. The same seed gives the same trial on every machine. */
VYRE_MUST_USE vyre_status conform_generate(uint64_t seed, conform_trial *out_trial);

/* The same with a small program: a few lines about one rule, and arguments at which rules differ.
 * Neighbouring seeds are about different rules. */
VYRE_MUST_USE vyre_status conform_generate_small(uint64_t seed, conform_trial *out_trial);

#endif
