/* The inside of splitting at grid barriers.
 *
 * split_walk.c  where control goes from one cut to the next, once to plan and once to build
 * split_plan.c  what has to be kept over the cuts, and which segments always run
 * split_code.c  the code of a segment
 * split.c       the segments as steps of the program
 *
 * Blocks that hold a grid barrier are taken apart; all others are copied whole. A **segment** is
 * the code from one cut to the next: it starts where the phase does, behind a grid barrier, at the
 * head of a loop that is taken apart, or behind a block that is, and it is named by the instruction
 * it starts with. Every instruction belongs to one segment. A segment ends by **jumps** to others.
 *
 * All invocations of the grid are in the same segment as a rule, because control flow around a grid
 * barrier is uniform. The exception are those that leave a block behind its last barrier on
 * different ways: a segment that only some of them reach is **partial**, and each invocation looks
 * up whether it is meant. Nobody can go back to an earlier segment from there, so that running the
 * segments in the order of the program lets all meet again where they should.
 *
 * A segment that may be passed over has a **gate**, an element that is set by who jumps there and
 * reset when it runs. The segments of an outermost loop make a **sweep**, which is repeated as long
 * as somebody jumps to a segment of it that has had its turn. */
#ifndef VYRE_PASS_SPLIT_PLAN_H
#define VYRE_PASS_SPLIT_PLAN_H

#include "base/vec.h"
#include "ir/uniformity.h"
#include "pass/rebuild.h"

/* What is known of an instruction of the phase. */
typedef struct split_inst {
    uint32_t home;    /* its segment; VYRE_NONE where its value comes out of a slot */
    uint32_t alias;   /* a result that is handed on at once: the operand it stands for */
    uint32_t slot;    /* scratch array that keeps its value, or VYRE_NONE */
    uint32_t target;  /* ends of blocks: the instruction they leave or go on with; VYRE_NONE for the
                         phase */
    uint32_t segment; /* the one that starts here, in `segments`, or VYRE_NONE */
    bool is_cut;      /* holds a grid barrier */
    bool needed;      /* something depends on it */
    bool kept;        /* its value is needed in another segment */
} split_inst;

typedef struct split_segment {
    uint32_t at;    /* its first instruction */
    uint32_t sweep; /* the outermost loop it is in, or VYRE_NONE */
    uint32_t gate;  /* element of the gates, or VYRE_NONE */
    uint8_t level;  /* vyre_uniformity: who arrives together */
    bool partial;
    bool has_syncs, has_subgroup; /* operations that others must reach, too */
    uint64_t shared_writes;       /* shared arrays, a bit each */
    uint64_t shared_live;         /* those that may be read before the next grid barrier */
} split_segment;

typedef struct split_jump {
    uint32_t from, to; /* segments; to VYRE_NONE: the end of the phase */
    bool behind_barrier;
} split_jump;

/* `value` is used in a segment: by an instruction, or as what a slot of `target` is to hold. */
typedef struct split_use {
    uint32_t segment, value, target;
} split_use;

/* A shared or private array of the phase. */
typedef struct split_array {
    uint32_t segment;   /* where it is used; VYRE_NONE so far */
    uint32_t scratch;   /* what takes its place in all segments, or VYRE_NONE */
    uint64_t bit;       /* shared ones */
    bool in_several;    /* segments */
    bool cleared_first; /* before any other use, whenever its segment runs */
    bool written, kept;
} split_array;

typedef struct split_sweep {
    uint32_t loop;
    uint32_t gate;   /* set while it is to run again */
    bool head_leads; /* each round starts with the head of the loop */
} split_sweep;

typedef struct split {
    vyre_rebuild *r;
    const vyre_ir *ir;
    const vyre_phase *phase;
    uint32_t step;
    bool in_repeat; /* scratch may hold what an earlier iteration left */
    bool failed;    /* no memory */
    bool building;

    vyre_uniformity_map uniformity;
    split_inst *insts; /* by instruction of the phase */
    split_array *arrays;
    VYRE_VEC(split_segment) segments;
    VYRE_VEC(split_jump) jumps;
    VYRE_VEC(split_use) uses;
    VYRE_VEC(split_sweep) sweeps;

    /* What the segments share: scratch arrays, or VYRE_NONE. */
    uint32_t gates, gate_count;
    uint32_t next;  /* an element an invocation: the partial segment it goes to, from 1 on */
    uint32_t count; /* a domain from memory, as it was when the phase started */

    /* The segment at hand. */
    uint32_t now;    /* its first instruction */
    size_t next_use; /* building: the first of its uses; segments come in order */
    uint32_t branches;
    bool behind_barrier;
    /* Values in it: the invocation's number, its workgroup's, and its number there. */
    uint32_t own, group, inside;
} split;

static inline split_inst *split_at(const split *s, uint32_t inst) {
    return &s->insts[inst - s->phase->first];
}

static inline vyre_uniformity split_control(const split *s, uint32_t inst) {
    uint32_t node = s->uniformity.controls[inst - s->phase->first];
    return (vyre_uniformity)s->uniformity.levels[node];
}

static inline split_array *split_array_of(const split *s, uint32_t resource) {
    return resource < s->phase->first_resource ? NULL
                                               : &s->arrays[resource - s->phase->first_resource];
}

/* Invocations of a workgroup; 1 without a workgroup clause. */
static inline uint32_t split_lanes(const split *s) {
    uint32_t lanes = s->phase->workgroup[0] * s->phase->workgroup[1] * s->phase->workgroup[2];
    return lanes ? lanes : 1;
}

/* Where a loop that is taken apart starts each iteration: the segment there is its head. */
static inline uint32_t split_head(const split *s, uint32_t loop) {
    return vyre_owner_blocks(s->ir, loop).first;
}

/* The instruction behind another one of the same block, its blocks and their results. */
static inline uint32_t split_behind(const split *s, uint32_t inst) {
    bool is_owner = vyre_inst_effects(&s->ir->insts[inst]) & VYRE_EFFECT_BLOCK;
    return is_owner ? vyre_result(s->ir, inst, vyre_result_count(s->ir, inst))
                    : vyre_inst_next(s->ir, inst);
}

/* Whether an instruction can be left out: nothing depends on it, and it does nothing. */
bool split_is_idle(const split *s, uint32_t inst);
/* Whether the value is asked for again instead of kept. */
bool split_is_asked(const vyre_inst *inst);

/* The segment that starts there; NULL if none does. */
static inline split_segment *split_segment_at(const split *s, uint32_t at) {
    uint32_t index = split_at(s, at)->segment;
    return index == VYRE_NONE ? NULL : &s->segments.items[index];
}
/* Adds it, unless it is there. */
void split_add_segment(split *s, uint32_t at);

/* Plans the phase: fills everything but handles of scratch arrays. False without memory. */
bool split_plan(split *s);

/* Walks the segment that starts at `s->now`: notes what it uses and where it goes, or builds it. */
void split_walk(split *s);
/* The end of a block that leaves the segment, at the level at which it is reached. */
void split_end(split *s, uint32_t at, vyre_uniformity level);
/* Whether the end of a block leaves the segment. */
bool split_leaves(const split *s, uint32_t at);

/* Building, for the walk. */
void split_build_code(split *s, uint32_t inst);
void split_build_barrier(split *s);
void split_build_keep(split *s, uint32_t inst, uint32_t value);
void split_build_jump(split *s, uint32_t to, vyre_uniformity level);
/* Whether a `for` takes a first iteration, or another one; the former looks at the range alone. */
uint32_t split_build_first_iteration(split *s, uint32_t loop);
uint32_t split_build_next_iteration(split *s, uint32_t loop);
void split_build_segment(split *s, const split_segment *segment);

/* What somebody called a value; NULL if nobody did. */
const char *split_value_name(const split *s, uint32_t value);

/* A size of the program as a value, a u64. */
uint32_t split_build_size(split *s, uint32_t size);

#endif
