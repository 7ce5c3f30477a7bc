/* Sanitizers: a run on the reference backend that looks for mistakes no single result shows.
 *
 *     vyre_findings *findings;
 *     status = vyre_sanitize(program, inputs, count, NULL, &findings);
 *     for (size_t i = 0; i < vyre_findings_count(findings); i++) {
 *         puts(vyre_findings_get(findings, i)->message);
 *     }
 *     vyre_findings_free(findings);
 *
 * Accesses are compared by what orders them in the run (barriers, phases, atomics that acquire and
 * release), not by when they came. Without acquire and release that is the same in every schedule.
 * With them it depends on which release an acquire happens to see, so try several seeds; and of
 * many unordered accesses to one element the first and the last few are remembered, so a race with
 * one in between can go unnoticed. Of several races on one element not every pair is named.
 *
 * An atomic that acquires or releases takes time by how much its invocation and its element know
 * that the other does not: little as a rule, but as much as there are workgroups where each of
 * many invocations goes through several of many elements. That time counts as steps. */
#ifndef VYRE_SANITIZE_H
#define VYRE_SANITIZE_H

#include <vyre/dispatch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, text, whether it makes the program wrong) */
#define VYRE_FINDING_KINDS(X)                                                                      \
    X(RACE, "data race", true)                                                                     \
    X(NON_UNIFORM, "non-uniform barrier", true)                                                    \
    X(OUT_OF_BOUNDS, "out of bounds", false)                                                       \
    X(UNWRITTEN, "read before any write", false)

typedef enum vyre_finding_kind {
#define VYRE_FINDING_ENUM(name, text, is_error) VYRE_FINDING_##name,
    VYRE_FINDING_KINDS(VYRE_FINDING_ENUM)
#undef VYRE_FINDING_ENUM
} vyre_finding_kind;

/* Who did what where. Without a workgroup clause, lanes and workgroups are those of the run. */
typedef struct vyre_access_place {
    uint32_t inst;                   /* VYRE_NONE where there is none */
    uint32_t line, column;           /* 0 where the program has no places */
    uint32_t lane;                   /* linear, in its workgroup */
    uint64_t workgroup;              /* linear */
    const char *file;                /* NULL: the program's own; else an operation's */
    const char *function;            /* the inlined function it is in, NULL if none */
    uint32_t call_line, call_column; /* where that was called; 0 if none */
    const char *call_file;           /* NULL: the program's own */
} vyre_access_place;

typedef struct vyre_finding {
    vyre_finding_kind kind;
    const char *message; /* what, where, who */
    const char *fix;
    /* Of a race, first the one that stands first in the program. Of a barrier, itself and where
     * those who miss it parted. second.inst is VYRE_NONE where there is no second one. */
    vyre_access_place first, second;
    uint64_t count; /* how often the same two instructions met like this */
} vyre_finding;

typedef struct vyre_findings vyre_findings;

#define VYRE_FINDINGS_LIMIT 1000 /* different ones are kept, no more */

/* `options` may be NULL. A failing run (a budget, a timeout) is a status; what was found until then
 * is lost. */
typedef struct vyre_sanitize_options {
    uint64_t seed;                                    /* of the schedule */
    uint64_t timeout_ns, max_steps, max_memory_bytes; /* 0: the reference backend's */
} vyre_sanitize_options;

VYRE_API VYRE_MUST_USE vyre_status vyre_sanitize(const vyre_program *program,
                                                 const vyre_input *inputs, size_t input_count,
                                                 const vyre_sanitize_options *options,
                                                 vyre_findings **out_findings);

VYRE_API size_t vyre_findings_count(const vyre_findings *findings);
VYRE_API const vyre_finding *vyre_findings_get(const vyre_findings *findings, size_t index);
VYRE_API void vyre_findings_free(vyre_findings *findings); /* NULL is allowed */

VYRE_API const char *vyre_finding_kind_name(vyre_finding_kind kind);
VYRE_API bool vyre_finding_is_error(vyre_finding_kind kind);

#ifdef __cplusplus
}
#endif

#endif
