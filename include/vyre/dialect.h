/* Dialect: the operations that a process knows by name.
 *
 *     vyre_dialects_guard guard;
 *     const vyre_dialects *now = vyre_dialects_enter(&guard);
 *     const vyre_operation *sum = vyre_dialects_find(now, "reduce.sum_u32");
 *     const vyre_program *program;
 *     status = vyre_operation_program(sum, NULL, &program);
 *     ... compile and run it ...
 *     vyre_dialects_leave(&guard);
 *
 * A snapshot is an immutable set of operations. One snapshot is current in the process. Entering
 * takes no lock; the reader sees the same snapshot until it leaves, even if another one is
 * installed meanwhile. A replaced snapshot is freed when its last reader leaves.
 *
 * Operations come from three sources: those linked in, such as the standard library; extern
 * dialects that objects register; and folders of manifests (docs/dialects.md). */
#ifndef VYRE_DIALECT_H
#define VYRE_DIALECT_H

#include <vyre/dispatch.h>
#include <vyre/intern.h>
#include <vyre/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Targets: the forms that an operation can be lowered to. X(name, id, description) */

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
        VYRE_TARGET_EXTENSION /* any other target, by its own id */
} vyre_target_kind;

typedef struct vyre_target {
    vyre_target_kind kind;
    const char *extension; /* id of VYRE_TARGET_EXTENSION; borrowed */
} vyre_target;

/* Returns the stable id of a target. It is also the key of emitters and the extension of files. */
VYRE_API const char *vyre_target_id(vyre_target target);
/* Parses an id or the short names `ptx` and `spirv`. "secondary_text" reads as PTX. Any other word
 * gives an extension of that name, which is borrowed. */
VYRE_API vyre_target vyre_target_read(const char *id);

/* Operations. */

#define VYRE_CATEGORIES(X)                                                                         \
    X(COMPOSITE, "composite") /* defined by its program */                                         \
    X(INTRINSIC, "intrinsic") /* the host performs it; programs cannot use it */                   \
    X(EXTENSION, "extension") /* known by name only; its registrant gives it a meaning */

typedef enum vyre_category {
#define VYRE_CATEGORY_ENUM(name, text) VYRE_CATEGORY_##name,
    VYRE_CATEGORIES(VYRE_CATEGORY_ENUM)
#undef VYRE_CATEGORY_ENUM
} vyre_category;

/* How a caller uses the source: the phases of a program are spliced into the caller's, and a
 * function is called in expressions. */
typedef enum vyre_operation_form {
    VYRE_OPERATION_NAME, /* neither: it has no source */
    VYRE_OPERATION_PROGRAM,
    VYRE_OPERATION_FUNCTION
} vyre_operation_form;

typedef enum vyre_role {
    VYRE_ROLE_INPUT,     /* a read-only buffer; a parameter of a function */
    VYRE_ROLE_OUTPUT,    /* an `out` buffer; a result of a function */
    VYRE_ROLE_UPDATED,   /* an `inout` buffer */
    VYRE_ROLE_ATTRIBUTE, /* a scalar */
} vyre_role;

typedef struct vyre_parameter {
    const char *name;
    vyre_role role;
    vyre_type type;
    bool is_buffer;
} vyre_parameter;

/* X(name, text, kind of operand, meaning) */
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
    const char *operand; /* the text between the parentheses, or NULL */
} vyre_law;

/* Another program with the same signature and results that is better on some devices. */
typedef struct vyre_variant {
    const char *entry;         /* its name in the source */
    const char *suits;         /* "gpu", "cpu", or the id of a backend */
    const vyre_program *built; /* as in vyre_operation */
} vyre_variant;

/* A test case of the operation, in the notation of `vyre run`. */
typedef struct vyre_witness {
    const char *arguments; /* one per line: "x=1,2,3" */
    const char *expected;  /* one per line: "total=6" */
} vyre_witness;

struct vyre_operation;
typedef vyre_status (*vyre_reference_function)(const struct vyre_operation *operation,
                                               const vyre_input *inputs, size_t input_count,
                                               vyre_outputs *out_outputs);

typedef struct vyre_lowering {
    vyre_target target;
    const vyre_program *program;       /* input of the target's emitter, or NULL */
    vyre_reference_function reference; /* used for the reference target if `program` is NULL */
} vyre_lowering;

typedef struct vyre_operation {
    const char *id;      /* "reduce.sum_u32": stable and unique in a process */
    const char *dialect; /* "reduce" */
    const char *version; /* of the dialect: "1.0.0", or "" */
    const char *doc;     /* a sentence, then details */
    vyre_category category;
    vyre_operation_form form;

    const vyre_parameter *parameters; /* in call order; results of a function last */
    size_t parameter_count;
    const vyre_law *laws;
    size_t law_count;
    const vyre_witness *witnesses;
    size_t witness_count;

    /* The source: a file name, its text and the name of the program or function in it. NULL if
     * there is none. */
    const char *file, *text, *entry;
    size_t text_size;
    /* The program that defines the operation, set by the registrant, or NULL. For a function it
     * applies the function to each element of buffers named like its parameters. Readers call
     * vyre_operation_program instead, because the standard library builds programs on demand. */
    const vyre_program *built;
    const vyre_variant *variants;
    size_t variant_count;

    /* Registered lowerings. An operation with a program also has one for every emitter. */
    const vyre_lowering *lowerings;
    size_t lowering_count;

    /* Benchmark arguments of size n, like those of a witness, where {...} is an expression over n
     * (docs/dialects.md). `work` is such an expression: how many arithmetic operations a run does.
     * NULL if not given. */
    const char *sample, *work;

    const struct vyre_library_entry *library; /* private */
} vyre_operation;

/* Returns whether the operation has a program, built or not. */
VYRE_API bool vyre_operation_has_program(const vyre_operation *operation);

/* Returns the program of an operation or, if `variant` is not NULL, of that variant. NULL without
 * an error if there is none. The first call for a standard library operation builds the program.
 * The operation owns it. */
VYRE_API VYRE_MUST_USE vyre_status vyre_operation_program(const vyre_operation *operation,
                                                          const vyre_variant *variant,
                                                          const vyre_program **out_program);

/* Snapshots. */

typedef struct vyre_dialects vyre_dialects;

/* Two operations with the same id. The strings are borrowed from them. A dialect without a name is
 * "<unknown dialect>". */
typedef struct vyre_duplicate {
    const char *id, *first, *second; /* the id and the two dialects */
} vyre_duplicate;

/* Checks that all ids differ. Otherwise the status names the first repeated id, in the order given.
 * `out_duplicate` may be NULL; it receives the parts, NULL if there is no duplicate. */
VYRE_API VYRE_MUST_USE vyre_status vyre_dialects_validate(const vyre_operation *const *operations,
                                                          size_t count,
                                                          vyre_duplicate *out_duplicate);
/* Makes a snapshot of these operations. It copies everything they point to and retains their
 * programs. It sorts them by dialect and id. Two operations with one id are an error, even in
 * different dialects. */
VYRE_API VYRE_MUST_USE vyre_status vyre_dialects_make(const vyre_operation *const *operations,
                                                      size_t count, vyre_dialects **out_snapshot);
/* Makes a snapshot of all operations: linked in, registered and in folders of VYRE_DIALECT_PATH. */
VYRE_API VYRE_MUST_USE vyre_status vyre_dialects_load(vyre_dialects **out_snapshot);
VYRE_API vyre_dialects *vyre_dialects_retain(const vyre_dialects *snapshot);
VYRE_API void vyre_dialects_release(const vyre_dialects *snapshot); /* NULL is allowed */

/* Makes a snapshot current and takes over the caller's reference. Does not wait for readers. */
VYRE_API void vyre_dialects_install(vyre_dialects *snapshot);

/* Access to the current snapshot. A thread may hold several guards, and must leave each before it
 * ends. To keep a snapshot longer or pass it to another thread, retain it.
 *
 * The first entry in a process loads the snapshot. vyre_dialects_enter never fails: if loading
 * fails, it logs the error and returns an empty snapshot. It also logs if the language already uses
 * another provider of operations. vyre_dialects_try_enter returns an error in both cases; do not
 * leave the guard then. */
typedef struct vyre_dialects_guard {
    const vyre_dialects *snapshot;
    void *held[2]; /* private */
} vyre_dialects_guard;
VYRE_API const vyre_dialects *vyre_dialects_enter(vyre_dialects_guard *guard);
VYRE_API VYRE_MUST_USE vyre_status vyre_dialects_try_enter(vyre_dialects_guard *guard,
                                                           const vyre_dialects **out_snapshot);
VYRE_API void vyre_dialects_leave(vyre_dialects_guard *guard);

/* Finds an operation by the number of its id (vyre_intern), or by the id. Both return NULL if there
 * is none. */
VYRE_API const vyre_operation *vyre_dialects_lookup(const vyre_dialects *snapshot, uint32_t name);
VYRE_API const vyre_operation *vyre_dialects_find(const vyre_dialects *snapshot, const char *id);
/* Finds how to lower an operation to a target: a registered lowering, otherwise its program if the
 * target has an emitter (emit.h). Every known operation has one for the reference target; running
 * it fails if nobody defined the operation. `*out_found` is false, without an error, if there is no
 * lowering. */
VYRE_API VYRE_MUST_USE vyre_status vyre_dialects_get_lowering(const vyre_dialects *snapshot,
                                                              uint32_t name, vyre_target target,
                                                              bool *out_found,
                                                              vyre_lowering *out_lowering);
/* Enumerate all operations, sorted by dialect and id. */
VYRE_API size_t vyre_dialects_count(const vyre_dialects *snapshot);
VYRE_API const vyre_operation *vyre_dialects_at(const vyre_dialects *snapshot, size_t index);

/* Watching: loads folders of manifests again when they change.
 *
 *     vyre_dialects_watch *watch;
 *     status = vyre_dialects_watch_open(&folder, 1, &watch);
 *     while (!status) {
 *         status = vyre_dialects_watch_wait(watch, 1000, tell, NULL);
 *     }
 *     vyre_dialects_watch_close(watch);
 *
 * If a changed manifest has an error, its earlier contents stay in use. One thread at a time may
 * use a watch; the snapshots it installs apply to the whole process. */

/* X(name, text) */
#define VYRE_DIALECT_EVENTS(X)                                                                     \
    X(ADDED, "added")                                                                              \
    X(CHANGED, "changed")                                                                          \
    X(REMOVED, "removed")                                                                          \
    X(REFUSED, "refused")   /* a manifest or folder has errors */                                  \
    X(RESTORED, "restored") /* a refused manifest or folder is correct again */

typedef enum vyre_dialect_event_kind {
#define VYRE_DIALECT_EVENT_ENUM(name, text) VYRE_DIALECT_EVENT_##name,
    VYRE_DIALECT_EVENTS(VYRE_DIALECT_EVENT_ENUM)
#undef VYRE_DIALECT_EVENT_ENUM
} vyre_dialect_event_kind;

typedef struct vyre_dialect_event {
    vyre_dialect_event_kind kind;
    const char *name;              /* id of an operation, or path of a manifest or folder */
    const char *detail;            /* REFUSED: the errors, one per line; else "" */
    bool is_kept;                  /* REFUSED: the earlier contents stay in use */
    const vyre_dialects *snapshot; /* the current one */
} vyre_dialect_event;

/* Receives an event, which is valid during the call. */
typedef void (*vyre_dialect_listener)(void *user, const vyre_dialect_event *event);

typedef struct vyre_dialects_watch vyre_dialects_watch;

/* Starts to watch these folders and those of VYRE_DIALECT_PATH. The first wait reports their
 * present contents. */
VYRE_API VYRE_MUST_USE vyre_status vyre_dialects_watch_open(const char *const *folders,
                                                            size_t count,
                                                            vyre_dialects_watch **out_watch);
/* Waits up to `timeout_ms` for a change, then loads and installs a new snapshot and reports each
 * difference to `listener`, which may be NULL. Changes without effect are not reported. After an
 * error the old snapshot stays current. */
VYRE_API VYRE_MUST_USE vyre_status vyre_dialects_watch_wait(vyre_dialects_watch *watch,
                                                            uint32_t timeout_ms,
                                                            vyre_dialect_listener listener,
                                                            void *user);
VYRE_API void vyre_dialects_watch_close(vyre_dialects_watch *watch); /* NULL is allowed */

/* Extern dialects: names of operations that other libraries define. The arrays must have static
 * storage; every later load reads them. The load reports all errors in them as one status. */
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
