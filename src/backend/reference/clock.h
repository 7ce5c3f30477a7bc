/* Who knows what: the order that barriers and atomics put accesses into.
 *
 * An access is stamped with its lane, the number of barriers its workgroup had passed, and its
 * lane's clock, which goes up whenever the lane releases. Somebody knows an access if it is bound
 * to have happened before: it is their own, a barrier of the same workgroup lies between, or they
 * acquired it. What was acquired is kept as a tree over workgroups that never changes: whoever
 * learns the same has the same tree, and one that learns a little more shares all but a path. */
#ifndef VYRE_REFERENCE_CLOCK_H
#define VYRE_REFERENCE_CLOCK_H

#include <vyre/base.h>
#include <vyre/limits.h>

typedef struct machine machine;

#define LANE_BITS 10 /* of `who`; the rest is the instruction */
#define NOBODY 0xffffffffu
_Static_assert(VYRE_LIMIT_WORKGROUP <= 1 << LANE_BITS, "a lane fits");
_Static_assert(VYRE_LIMIT_INSTRUCTIONS <= 1 << (32 - LANE_BITS), "an instruction fits");

typedef struct stamp {
    uint32_t group; /* NOBODY: no access */
    uint32_t who;   /* instruction and lane */
    uint32_t barriers, clock;
} stamp;

static inline uint32_t stamp_lane(const stamp *access) {
    return access->who & ((1u << LANE_BITS) - 1);
}

static inline uint32_t stamp_inst(const stamp *access) {
    return access->who >> LANE_BITS;
}

typedef struct tree tree;

typedef struct knowledge {
    tree *root; /* NULL: nothing */
} knowledge;

/* Of a group: all of a lane below `time`, and all before the barrier of that number. */
typedef struct mark {
    uint32_t group, lane, time, barriers;
} mark;

/* False without memory, or beyond the machine's budget, which it then says. */
bool knowledge_add(machine *m, knowledge *into, mark added);
bool knowledge_join(machine *m, knowledge *into, const knowledge *from);
void knowledge_clear(machine *m, knowledge *known);

/* Frees it, without giving back to the budget what a phase has taken of it. */
void knowledge_free(knowledge *known);

/* Whether it covers the access. */
bool knowledge_has(const knowledge *known, const stamp *access);

#endif
