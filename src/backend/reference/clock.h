/* Who knows what: the order that barriers and atomics put accesses into.
 *
 * An access is stamped with its lane, the number of barriers its workgroup had passed, and its
 * lane's clock, which goes up whenever the lane releases. Somebody knows an access if it is bound
 * to have happened before: it is their own, a barrier of the same workgroup lies between, or they
 * acquired it. What was acquired is kept as a sorted list of marks: all of a workgroup before its
 * n-th barrier, or all of some lanes in a row up to their n-th release. */
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

#define WHOLE_GROUP 0xffffffffu

/* Everything below `time` is known of the lanes from `first` to `last`: the time is a lane's clock,
 * or where both are WHOLE_GROUP, the number of barriers. */
typedef struct mark {
    uint32_t group, first, last, time;
} mark;

typedef struct knowledge {
    mark *marks; /* by group and lane; they do not overlap */
    uint32_t count, capacity;
} knowledge;

/* False without memory, or beyond the machine's budget, which it then says. What is added is one
 * lane or a whole group. */
bool knowledge_add(machine *m, knowledge *into, mark added);
bool knowledge_join(machine *m, knowledge *into, const knowledge *from);

static inline void knowledge_clear(knowledge *known) {
    known->count = 0;
}

void knowledge_free(knowledge *known);

/* Whether it covers the access. */
bool knowledge_has(const knowledge *known, const stamp *access);

#endif
