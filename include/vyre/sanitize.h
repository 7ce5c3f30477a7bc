/* Sanitize: runs a program on the reference backend and reports data races and other errors that
 * its results may not show.
 *
 *     vyre_findings *findings;
 *     status = vyre_sanitize(program, inputs, count, NULL, &findings);
 *     for (size_t i = 0; i < vyre_findings_count(findings); i++) {
 *         puts(vyre_findings_get(findings, i)->message);
 *     }
 *     vyre_findings_free(findings);
 *
 * Two accesses race if no barrier, phase or acquire and release orders them (happens-before).
 * Without acquire and release, every schedule gives the same findings. With them, the order depends
 * on which release an acquire reads, so try several seeds.
 *
 * The sanitizer keeps only the first and the last few unordered accesses to an element. It can miss
 * a race with one in between, and does not report every pair.
 *
 * An atomic that acquires or releases costs time that grows with what its invocation and element
 * must learn from each other. This is usually small, and at most proportional to the number of
 * workgroups. It counts as steps. */
#ifndef VYRE_SANITIZE_H
#define VYRE_SANITIZE_H

#include <vyre/dispatch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, text, whether it is an error) */
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

/* Where an access happened. Without a workgroup clause, lane and workgroup are those that the
 * reference backend used. */
typedef struct vyre_access_place {
    uint32_t inst;                   /* the instruction, or VYRE_NONE */
    uint32_t line, column;           /* 0 if the program has no source places */
    uint32_t lane;                   /* index in the workgroup */
    uint64_t workgroup;              /* index in the grid */
    const char *file;                /* NULL: the program's own; else that of a library operation */
    const char *function;            /* the inlined function around it, or NULL */
    uint32_t call_line, call_column; /* of the call to `function`; 0 if none */
    const char *call_file;           /* of the call; NULL: the program's own */
} vyre_access_place;

typedef struct vyre_finding {
    vyre_finding_kind kind;
    const char *message; /* what happened, where, and in which invocations */
    const char *fix;
    /* Race: the two accesses, in program order. Barrier: the barrier, and where the invocations
     * that miss it branched off. second.inst is VYRE_NONE if there is no second place. */
    vyre_access_place first, second;
    uint64_t count; /* how often this pair of instructions was found */
} vyre_finding;

typedef struct vyre_findings vyre_findings;

#define VYRE_FINDINGS_LIMIT 1000 /* the most findings that are kept */

/* Zero means the default. */
typedef struct vyre_sanitize_options {
    uint64_t seed;                                    /* selects the schedule */
    uint64_t timeout_ns, max_steps, max_memory_bytes; /* 0: see reference.h */
} vyre_sanitize_options;

/* Runs the program. `options` may be NULL. The caller frees the findings. If the run itself fails,
 * for example by a limit or a timeout, there are none. */
VYRE_API VYRE_MUST_USE vyre_status vyre_sanitize(const vyre_program *program,
                                                 const vyre_input *inputs, size_t input_count,
                                                 const vyre_sanitize_options *options,
                                                 vyre_findings **out_findings);

VYRE_API size_t vyre_findings_count(const vyre_findings *findings);
/* Returns NULL past the last. Valid until the findings are freed. */
VYRE_API const vyre_finding *vyre_findings_get(const vyre_findings *findings, size_t index);
VYRE_API void vyre_findings_free(vyre_findings *findings); /* NULL is allowed */

VYRE_API const char *vyre_finding_kind_name(vyre_finding_kind kind);
VYRE_API bool vyre_finding_is_error(vyre_finding_kind kind);

#ifdef __cplusplus
}
#endif

#endif
