/* In which form a phase's invocations run: in the lanes of vectors, or as scalars, one by one or a
 * few side by side. Vectors do arithmetic on many at once, but go to memory lane by lane unless
 * lanes are neighbours there; scalars wait for each lookup that the next one depends on, unless
 * others have something to do meanwhile. So the time of a phase in each form is estimated from its
 * code, and the shortest one wins. `vyre show --stage llvm` has the reasons. */
#ifndef VYRE_CPU_CODEGEN_CHOOSE_H
#define VYRE_CPU_CODEGEN_CHOOSE_H

#include "backend/cpu/codegen/analyse.h"
#include "base/strbuf.h"

/* What code is written for. False is right everywhere, and slower where it could be true. */
typedef struct cpu_target {
    uint32_t lanes;        /* of 32 bits in a vector: 4, 8 or 16 */
    bool has_half;         /* converts between f16 and f32 */
    bool has_long;         /* converts between vectors of 64-bit integers and floats */
    bool has_gather;       /* loads the lanes of a vector by as many indices */
    bool has_quick_gather; /* that pays */
    bool has_scatter;      /* the same of stores */
    bool any_domain;       /* phases may run over more than the domain that is theirs */
    bool is_plain;         /* as little code as possible: scalars one by one, where they can */
    uint32_t forced;       /* lanes of every phase, whatever it costs; 0: as is best */
    uint32_t forced_side;  /* with 1 lane: how many scalars side by side, where they can */
} cpu_target;

/* Times are cycles, of one invocation. */
typedef struct cpu_choice {
    bool scalar;
    bool is_plain;       /* as little code as possible, since LLVM takes too long for more */
    uint32_t lanes;      /* of a chunk: of its vectors, or scalars side by side */
    const char *because; /* why nothing was estimated; NULL if it was */
    double vector_time;  /* with the vectors of the target */
    double scalar_time;  /* with the best number of scalars side by side */
    double scalar_wait;  /* that a scalar alone waits for what the next operation needs */
    uint32_t operations, rows, lookups, atomics; /* in the code: arithmetic, accesses */
    uint32_t splits;                             /* branches and loops where lanes part */
    uint32_t carried;                            /* the most varying values that a loop carries */
} cpu_choice;

/* Analyses a phase in the form that is best. False without memory; else `out_facts` is to be freed.
 */
bool cpu_choose(const cpu_target *target, const vyre_ir *ir, uint32_t phase, cpu_facts *out_facts,
                cpu_choice *out_choice);

/* A line for people, without its end: "16 lanes: ...". */
void cpu_choice_print(const cpu_choice *choice, vyre_strbuf *out);

#endif
