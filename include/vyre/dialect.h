/* Dialect: the operations that a process knows by name, each with its meaning as a program.
 *
 *     vyre_dialects_guard guard;
 *     const vyre_dialects *now = vyre_dialects_enter(&guard);
 *     const vyre_operation *sum = vyre_dialects_find(now, "reduce.sum_u32");
 *     const vyre_program *program;
 *     status = vyre_operation_program(sum, NULL, &program);
 *     ... compile and run it ...
 *     vyre_dialects_leave(&guard);
 *
 * A snapshot is a whole and never changes. One is in force in the process: who enters takes no lock
 * and sees that one until it leaves, whatever is installed meanwhile; who enters later sees the
 * newer one. A snapshot that was replaced is freed when its last reader leaves.
 *
 * Definitions come from three streams: those linked in (the standard library is one of them),
 * extern dialects that objects register, and folders of manifests (docs/dialects.md). */
#ifndef VYRE_DIALECT_H
#define VYRE_DIALECT_H

#include <vyre/dispatch.h>
#include <vyre/intern.h>
#include <vyre/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Targets: what an operation can become. X(name, id, in words) */

#define VYRE_TARGETS(X)                                                                            \
    X(PTX, "secondary_text", "PTX text")                                                           \
    X(SPIRV, "spv", "SPIR-V")                                                                      \
    X(PRIMARY_TEXT, "primary_text", "vyre text")                                                   \
    X(PRIMARY_BINARY, "primary_binary", "vyre binary")                                             \
    X(SECONDARY_TEXT, "secondary_text", "PTX text")                                                \
    X(NATIVE_MODULE, "native_module", "native code")                                               \
    X(REFERENCE_BACKEND, "reference_backend", "reference backend")

typedef enum vyre_target_kind {
#define VYRE_TARGET_ENUM(name, id, words) VYRE_TARGET_##name,
    VYRE_TARGETS(VYRE_TARGET_ENUM)
#undef VYRE_TARGET_ENUM
        VYRE_TARGET_EXTENSION /* any other, by its own id */
} vyre_target_kind;

typedef struct vyre_target {
    vyre_target_kind kind;
    const char *extension; /* of VYRE_TARGET_EXTENSION; borrowed */
} vyre_target;

/* Its stable id: how it is written, how emitters are found, and the ending of its files. */
VYRE_API const char *vyre_target_id(vyre_target target);
/* Reads what vyre_target_id writes, and the short names `ptx` and `spirv`; any other word is an
 * extension of that name, which is borrowed. "secondary_text" reads as PTX. */
VYRE_API vyre_target vyre_target_read(const char *id);

/* Definitions. */

#define VYRE_CATEGORIES(X)                                                                         \
    X(COMPOSITE, "composite") /* means what its program means */                                   \
    X(INTRINSIC, "intrinsic") /* done by the host, never by a program */                           \
    X(EXTENSION, "extension") /* known by name; whoever registered it gives it a meaning */

typedef enum vyre_category {
#define VYRE_CATEGORY_ENUM(name, text) VYRE_CATEGORY_##name,
    VYRE_CATEGORIES(VYRE_CATEGORY_ENUM)
#undef VYRE_CATEGORY_ENUM
} vyre_category;

/* How its source is used: a program's phases are spliced into the caller's, a function stands in
 * expressions. */
typedef enum vyre_operation_form {
    VYRE_OPERATION_NAME, /* neither: known by name alone */
    VYRE_OPERATION_PROGRAM,
    VYRE_OPERATION_FUNCTION
} vyre_operation_form;

typedef enum vyre_role {
    VYRE_ROLE_INPUT,     /* a buffer that is read; a parameter of a function */
    VYRE_ROLE_OUTPUT,    /* a buffer that is made; a result of a function */
    VYRE_ROLE_UPDATED,   /* a buffer that is read and written */
    VYRE_ROLE_ATTRIBUTE, /* a scalar */
} vyre_role;

typedef struct vyre_parameter {
    const char *name;
    vyre_role role;
    vyre_type type;
    bool is_buffer;
} vyre_parameter;

/* X(name, text, what follows in parentheses, meaning) */
#define VYRE_LAWS(X)                                                                               \
    X(COMMUTATIVE, "commutative", NONE, "f(a, b) = f(b, a)")                                       \
    X(ASSOCIATIVE, "associative", NONE, "f(f(a, b), c) = f(a, f(b, c))")                           \
    X(IDENTITY, "identity", VALUE, "f(a, e) = a = f(e, a)")                                        \
    X(ABSORBING, "absorbing", VALUE, "f(a, z) = z = f(z, a)")                                      \
    X(IDEMPOTENT, "idempotent", NONE, "f(a, a) = a, or f(f(a)) = f(a)")                            \
    X(INVOLUTION, "involution", NONE, "f(f(a)) = a")                                               \
    X(INVERSE, "inverse", OPERATION, "g(f(a)) = a")                                                \
    X(MONOTONE, "monotone", NONE, "a <= b gives f(a) <= f(b)")

typedef enum vyre_law_kind {
#define VYRE_LAW_ENUM(name, text, operand, meaning) VYRE_LAW_##name,
    VYRE_LAWS(VYRE_LAW_ENUM)
#undef VYRE_LAW_ENUM
} vyre_law_kind;

typedef struct vyre_law {
    vyre_law_kind kind;
    const char *operand; /* as it is written between the parentheses; NULL if there is none */
} vyre_law;

/* Another program with the same signature and the same bytes, better on some devices. */
typedef struct vyre_variant {
    const char *entry;         /* its name in the source */
    const char *suits;         /* "gpu", "cpu", or the id of a backend */
    const vyre_program *built; /* as for an operation */
} vyre_variant;

/* An example that must hold: arguments as `vyre run` takes them, and what comes out. */
typedef struct vyre_witness {
    const char *arguments; /* separated by line feeds: "x=1,2,3" */
    const char *expected;  /* the same way: "total=6" */
} vyre_witness;

struct vyre_operation;
typedef vyre_status (*vyre_reference_function)(const struct vyre_operation *operation,
                                               const vyre_input *inputs, size_t input_count,
                                               vyre_outputs *out_outputs);

typedef struct vyre_lowering {
    vyre_target target;
    const vyre_program *program;       /* what the target's emitter is given; or NULL */
    vyre_reference_function reference; /* of the reference target where there is no program */
} vyre_lowering;

typedef struct vyre_operation {
    const char *id;      /* "reduce.sum_u32": stable, one owner in a process */
    const char *dialect; /* "reduce" */
    const char *version; /* of the dialect: "1.0.0"; "" if it has none */
    const char *doc;     /* a sentence, then details */
    vyre_category category;
    vyre_operation_form form;

    const vyre_parameter *parameters; /* in the order of a call; results of a function last */
    size_t parameter_count;
    const vyre_law *laws;
    size_t law_count;
    const vyre_witness *witnesses;
    size_t witness_count;

    /* Where its meaning stands: the text of a file and a name in it. NULL if it has none. */
    const char *file, *text, *entry;
    size_t text_size;
    /* The program that is its meaning, from whoever defines the operation; NULL if it has none.
     * That of a function applies it to each element of buffers of the same names. Readers call
     * vyre_operation_program: the standard library builds its programs when they are asked for. */
    const vyre_program *built;
    const vyre_variant *variants;
    size_t variant_count;

    /* Lowerings that were registered for it; a composition has those of all emitters besides. */
    const vyre_lowering *lowerings;
    size_t lowering_count;

    /* How to make arguments of a size n, for measurements: words as those of a witness, where {...}
     * is an expression over n (docs/dialects.md); and how many arithmetic operations a run with
     * them does, such an expression without braces. NULL if there is none. */
    const char *sample, *work;

    const struct vyre_library_entry *library; /* private: of the standard library, else NULL */
} vyre_operation;

/* Whether there is a program for it, built or not. */
VYRE_API bool vyre_operation_has_program(const vyre_operation *operation);

/* The program of an operation, or of one of its variants if that is not NULL. A program of the
 * standard library is built by the first call, which may run out of memory. NULL, and no error, if
 * the operation has none. Lives as long as the operation. */
VYRE_API VYRE_MUST_USE vyre_status vyre_operation_program(const vyre_operation *operation,
                                                          const vyre_variant *variant,
                                                          const vyre_program **out_program);

/* Snapshots. */

typedef struct vyre_dialects vyre_dialects;

/* An id that two operations have: borrowed from them. A dialect without a name is
 * "<unknown dialect>". */
typedef struct vyre_duplicate {
    const char *id, *first, *second; /* the id, and the dialects that register it */
} vyre_duplicate;

/* Whether each of these has an id of its own. If not the status tells of the first that comes again
 * in their order, and `out_duplicate`, unless NULL, has its parts; else these are NULL. */
VYRE_API VYRE_MUST_USE vyre_status vyre_dialects_validate(const vyre_operation *const *operations,
                                                          size_t count,
                                                          vyre_duplicate *out_duplicate);
/* A snapshot of these, copied with all they point to; programs are retained. They are put in order
 * by dialect and id first; an id that comes twice is an error, in whatever dialects. */
VYRE_API VYRE_MUST_USE vyre_status vyre_dialects_make(const vyre_operation *const *operations,
                                                      size_t count, vyre_dialects **out_snapshot);
/* All that is linked in and registered, and the folders of VYRE_DIALECT_PATH. */
VYRE_API VYRE_MUST_USE vyre_status vyre_dialects_load(vyre_dialects **out_snapshot);
VYRE_API vyre_dialects *vyre_dialects_retain(const vyre_dialects *snapshot);
VYRE_API void vyre_dialects_release(const vyre_dialects *snapshot); /* NULL is allowed */

/* Makes it the one in force: takes over the caller's reference. The only way to change what the
 * process knows. Waits for no reader. */
VYRE_API void vyre_dialects_install(vyre_dialects *snapshot);

/* The one in force, for as long as the guard is held: by this thread, any number at a time, left
 * before the thread ends. The first in a process loads it. Where that fails vyre_dialects_enter
 * logs why and gives an empty snapshot, and where the language has another provider of operations
 * it logs that; try_enter fails in both cases, with nothing to leave. To keep a snapshot longer,
 * or for another thread, retain it. */
typedef struct vyre_dialects_guard {
    const vyre_dialects *snapshot;
    void *held[2]; /* private */
} vyre_dialects_guard;
VYRE_API const vyre_dialects *vyre_dialects_enter(vyre_dialects_guard *guard);
VYRE_API VYRE_MUST_USE vyre_status vyre_dialects_try_enter(vyre_dialects_guard *guard,
                                                           const vyre_dialects **out_snapshot);
VYRE_API void vyre_dialects_leave(vyre_dialects_guard *guard);

/* NULL if there is none. `name` is what vyre_intern gives for the id. */
VYRE_API const vyre_operation *vyre_dialects_lookup(const vyre_dialects *snapshot, uint32_t name);
/* The same by its id. */
VYRE_API const vyre_operation *vyre_dialects_find(const vyre_dialects *snapshot, const char *id);
/* How it becomes something of that target: as it was registered, else its program where there is an
 * emitter (emit.h). Every operation that is known has one for the reference, which refuses where
 * nobody gave it a meaning. Not found, and no error, if the operation is not known, or nothing
 * lowers it for that target. */
VYRE_API VYRE_MUST_USE vyre_status vyre_dialects_get_lowering(const vyre_dialects *snapshot,
                                                              uint32_t name, vyre_target target,
                                                              bool *out_found,
                                                              vyre_lowering *out_lowering);
/* Each once, ordered by dialect and id. */
VYRE_API size_t vyre_dialects_count(const vyre_dialects *snapshot);
VYRE_API const vyre_operation *vyre_dialects_at(const vyre_dialects *snapshot, size_t index);

/* Watching: folders of manifests whose changes are put in force as they happen.
 *
 *     vyre_dialects_watch *watch;
 *     status = vyre_dialects_watch_open(&folder, 1, &watch);
 *     while (!status) {
 *         status = vyre_dialects_watch_wait(watch, 1000, tell, NULL);
 *     }
 *     vyre_dialects_watch_close(watch);
 *
 * An edit that has a mistake is refused: what the manifest said before stays in force. A watch
 * belongs to one thread at a time; what it installs holds for the whole process. */

/* X(name, text) */
#define VYRE_DIALECT_EVENTS(X)                                                                     \
    X(ADDED, "added")                                                                              \
    X(CHANGED, "changed")                                                                          \
    X(REMOVED, "removed")                                                                          \
    X(REFUSED, "refused")   /* a manifest or folder, with the reasons */                           \
    X(RESTORED, "restored") /* a manifest or folder that was refused is no longer */

typedef enum vyre_dialect_event_kind {
#define VYRE_DIALECT_EVENT_ENUM(name, text) VYRE_DIALECT_EVENT_##name,
    VYRE_DIALECT_EVENTS(VYRE_DIALECT_EVENT_ENUM)
#undef VYRE_DIALECT_EVENT_ENUM
} vyre_dialect_event_kind;

typedef struct vyre_dialect_event {
    vyre_dialect_event_kind kind;
    const char *name;   /* the id of an operation, or the path of a manifest or folder */
    const char *detail; /* refused: the reasons, one a line, each with its "Fix: "; else "" */
    bool is_kept;       /* refused: what it said before stays in force */
    const vyre_dialects *snapshot; /* in force now */
} vyre_dialect_event;

/* Everything in an event is borrowed for the call. */
typedef void (*vyre_dialect_listener)(void *user, const vyre_dialect_event *event);

typedef struct vyre_dialects_watch vyre_dialects_watch;

/* Starts to watch these folders, besides those of VYRE_DIALECT_PATH. The first wait tells what
 * there is. */
VYRE_API VYRE_MUST_USE vyre_status vyre_dialects_watch_open(const char *const *folders,
                                                            size_t count,
                                                            vyre_dialects_watch **out_watch);
/* Waits for a change, at most so long, loads and installs what is new, and tells of it by
 * `listener`, which may be NULL. A change that means nothing is not told. What fails leaves the
 * snapshot in force. */
VYRE_API VYRE_MUST_USE vyre_status vyre_dialects_watch_wait(vyre_dialects_watch *watch,
                                                            uint32_t timeout_ms,
                                                            vyre_dialect_listener listener,
                                                            void *user);
VYRE_API void vyre_dialects_watch_close(vyre_dialects_watch *watch); /* NULL is allowed */

/* Extern dialects: objects outside of the library register static storage, which every load from
 * then on looks at. Its operations are known by name; all that is wrong with what was registered is
 * one error of the load. */
typedef struct vyre_extern_dialect {
    const char *name; /* starts with "vyre-libs-" */
    const char *version, *url;
} vyre_extern_dialect;
typedef struct vyre_extern_operation {
    const char *dialect, *id;
} vyre_extern_operation;
VYRE_API VYRE_MUST_USE vyre_status
vyre_dialects_register_extern(const vyre_extern_dialect *dialects, size_t dialect_count,
                              const vyre_extern_operation *operations, size_t operation_count);

#ifdef __cplusplus
}
#endif

#endif
