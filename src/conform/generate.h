/* The inside of the generator of random programs.
 *
 * generate.c         arguments, phases, repeats       generate_value.c  operations on values
 * generate_memory.c  arrays, and who may touch what   generate_block.c  control flow
 * generate_small.c   small programs, one a rule       generate_special.c  what goes into them
 * generate_message.c prints and asserts
 * generate_steps.c   swaps, branches, counters in sizes  generate_turns.c  small ones of these
 * generate_records.c small ones of records
 * generate_sums.c    small programs that sum floats
 *
 * What makes programs free of races: between two points where all invocations meet (the start of a
 * phase, a grid barrier; for shared arrays a barrier) every array is used in one way alone. It is
 * read by all; or each invocation keeps to elements of its own; or all change it by one atomic
 * operation that commutes, and nobody looks. At the next meeting the ways are drawn anew.
 *
 * What keeps barriers valid: every value has a level, which says how far it is the same, and code
 * under a condition runs at the level of the condition.
 *
 * What makes programs the same everywhere: no two draws stand in one expression, whose order C
 * leaves open. */
#ifndef VYRE_CONFORM_GENERATE_H
#define VYRE_CONFORM_GENERATE_H

#include <vyre/builder.h>

#include "base/random.h"
#include "conform/trial.h"

enum {
    MOST_VALUES = 256,
    MOST_ARRAYS = 52,
    MOST_VARIABLES = 16,
    MOST_DEPTH = 4,     /* blocks in one another */
    MOST_LANES = 640,   /* invocations of a phase */
    GENERATE_TWINS = 3, /* pairs of arrays that can be swapped */
};

/* How far a value is the same, or a place is reached together. */
typedef enum level { LEVEL_LANE, LEVEL_SUBGROUP, LEVEL_WORKGROUP, LEVEL_GRID } level;

typedef struct pool_value {
    uint32_t value;
    vyre_type type;
    level same;
} pool_value;

/* How an array is used until the next meeting. */
typedef enum usage { USAGE_READ, USAGE_OWN, USAGE_UPDATE } usage;

typedef enum array_kind {
    ARRAY_INPUT,
    ARRAY_GLOBAL,
    ARRAY_SHARED,
    ARRAY_PRIVATE,
    ARRAY_CONSTANT
} array_kind;

typedef struct generated_array {
    uint32_t resource;
    vyre_type type;
    array_kind kind;
    usage use;
    uint32_t stride;                       /* USAGE_OWN: elements of each invocation */
    vyre_op update;                        /* USAGE_UPDATE */
    bool by_numbers;                       /* ARRAY_PRIVATE: indices are constants */
    bool is_field;                         /* of the records of a buffer */
    uint32_t buffer, offset, record_bytes; /* is_field: of which, and where in a record */
    bool is_scratch;
} generated_array;

typedef struct generator {
    vyre_builder *b;
    uint64_t random;
    uint64_t record_random; /* of its own, so that programs without records stay what they are */
    bool has_records;
    conform_trial *trial;
    bool failed; /* no memory */
    bool has_messages;
    uint64_t message_random; /* of its own, so that messages change nothing else */

    generated_array arrays[MOST_ARRAYS];
    uint32_t array_count, global_count;
    uint32_t scalars[4];
    vyre_type scalar_types[4];
    uint32_t scalar_count;
    uint32_t repeats[2], repeat_count;             /* that are open */
    bool has_steps;                                /* of all kinds */
    bool in_while;                                 /* the last of them is a `repeat while` */
    uint32_t twins[GENERATE_TWINS][2], twin_count; /* arrays that can be swapped */

    /* The phase at hand. */
    bool has_workgroup, has_grid_barriers;
    uint32_t workgroup_lanes, subgroup;
    uint32_t own, own_in_workgroup; /* values: numbers of the invocation */
    pool_value values[MOST_VALUES];
    uint32_t value_count;
    uint32_t variables[MOST_VARIABLES];
    vyre_type variable_types[MOST_VARIABLES];
    uint32_t variable_count;
    uint32_t depth, budget;
    uint32_t iterations; /* of all loops around */
    bool in_divergent_loop, in_call;
    bool in_grid_loop, in_grid_call; /* that all leave alike, and meet behind */
    vyre_type call_type;
} generator;

static inline uint32_t generate_below(generator *g, uint32_t bound) {
    return (uint32_t)vyre_random_below(&g->random, bound);
}

static inline bool generate_one_in(generator *g, uint32_t n) {
    return generate_below(g, n) == 0;
}

static inline level generate_lower(level left, level right) {
    return left < right ? left : right;
}

/* Steps of all kinds, and the arrays for them. */
void generate_steps(generator *g);
void generate_twins(generator *g);

/* A field of a buffer of records, as an array. */
void generate_field(generator *g, uint32_t buffer, vyre_type type, uint32_t offset,
                    uint32_t record_bytes, array_kind kind);
uint32_t generate_side(generator *g, uint32_t side);
uint32_t generate_shared(generator *g, vyre_type type, uint32_t length);
/* A small program about one kind of them. */
void generate_turns(generator *g, uint32_t turn);
void generate_records(generator *g, uint32_t turn);
/* A small program that sums floats. */
VYRE_MUST_USE vyre_status generate_sums(uint64_t seed, uint32_t turn, conform_trial *out_trial);
/* A phase, and a repeat that counts down in memory. */
void generate_phase(generator *g);
void generate_countdown(generator *g);

/* Starts a program, and makes it, with its arguments, the trial's. */
VYRE_MUST_USE vyre_status generate_begin(generator *g, uint64_t seed, conform_trial *out_trial);
VYRE_MUST_USE vyre_status generate_end(generator *g);
/* Adds an argument of so many random elements; gives them, or NULL without memory. */
uint8_t *generate_argument(generator *g, const char *name, vyre_type type, size_t count);

vyre_type generate_type(generator *g);
/* Types that atomics and indices like come up more often; never bool, which buffers have not. */
vyre_type generate_array_type(generator *g);

/* Adds a value to those that code may use. */
void generate_remember(generator *g, uint32_t value, level same);
/* One of them, or a new one, of a type and the same at least at a level. */
uint32_t generate_pick(generator *g, vyre_type type, level same);
/* A value to index an array by, often inside of it. */
uint32_t generate_index(generator *g, uint32_t resource, level same);
level generate_level_of(const generator *g, uint32_t value);
void generate_operation(generator *g);
void generate_subgroup_operation(generator *g);
/* Many values in one, so that a wrong bit in any of them is seen. */
uint32_t generate_digest(generator *g, vyre_type type);

/* All workgroups have met, or the lanes of one: the ways to use arrays are drawn anew. */
void generate_meet(generator *g, bool whole_grid);
void generate_barrier(generator *g, bool whole_grid);
/* Writes to all shared arrays, which a grid barrier has emptied: until then nobody may read them.
 */
void generate_refill(generator *g);
/* An element that belongs to this invocation alone. */
uint32_t generate_own_index(generator *g, const generated_array *array);
void generate_access(generator *g, level here);

/* A number of a type at which rules may differ; `before` is one that it may have to do with, or
 * NULL. */
void generate_special(generator *g, vyre_type type, const uint8_t *before, uint8_t *out);

/* Now and then a print or an assert of values that are there. */
void generate_message(generator *g);

void generate_block(generator *g, level here);
/* Some end behind a grid barrier that may be passed over, and the others go on without them. Gives
 * the level at which they do. */
level generate_parting(generator *g);

#endif
