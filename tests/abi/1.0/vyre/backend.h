/* The contract between vyre and a backend: all that a backend's author needs.
 *
 * A backend is a pure function from a valid program and inputs to outputs. It may be called from
 * any thread at any time, gives the same bytes for the same inputs, and where it says that a run
 * succeeded they are the bytes of the reference backend. What it cannot run it refuses with
 * VYRE_FAIL_UNSUPPORTED.
 *
 * It is a table of functions, of which two are required: `id` and `dispatch`. Every other slot may
 * be NULL; the host copies the table and fills each hole with the default that stands beside the
 * slot. Source text of a device's own language is no part of the contract.
 *
 *     static vyre_status dispatch(const vyre_backend *backend, const vyre_call *call,
 *                                 vyre_output *outputs) { ... }
 *     static const char *id(const vyre_backend *backend) { return "mine"; }
 *
 *     static const vyre_backend_slots slots = {
 *         VYRE_BACKEND_HEAD, .id = id, .dispatch = dispatch,
 *     };
 *     static vyre_status create(const vyre_host *host, uint32_t device, vyre_backend *out) {
 *         out->slots = &slots;
 *         return NULL;
 *     }
 *     static const vyre_registration registration = {.id = "mine", .create = create};
 *     static const vyre_precedence precedence = {"mine", 50};
 *     static const vyre_capability capability = {"mine", true};
 *     static const vyre_bundle bundle = {
 *         VYRE_BUNDLE_HEAD, &registration, 1, &precedence, 1, &capability, 1,
 *     };
 *     const vyre_bundle *vyre_backend_query(uint32_t max_abi) {
 *         return max_abi >= VYRE_ABI ? &bundle : NULL;
 *     }
 *
 * This header needs the C standard library's alone, and no library to link with. A program is
 * opaque here: the host gives its bytes (docs/wire.md), which libvyre reads for who links it.
 * examples/backend-plugin is a whole backend in a project of its own.
 *
 * Compatibility. Within a major number nothing that is here changes or goes away, and a minor
 * number adds in two ways only (docs/backends.md says how the two sides agree):
 *
 *   - Tables, which begin with `struct_size`, and rows of a bundle, whose size stands in its head,
 *     grow at their end. Who reads one that the other side made looks no further than it reaches:
 *     the host fills what is missing with defaults and ignores what it does not know, a backend
 *     asks VYRE_HAS before it uses a service that 1.0 did not have.
 *   - All other structures keep their size for ever and may be copied whole. Their `reserved` words
 *     are 0; where a later version gives one a meaning, 0 is still none, or the default.
 *
 * Numbers of enumerations are only ever added. */
#ifndef VYRE_BACKEND_H
#define VYRE_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In tables and bundles it says which host is needed: one of the same major number, and of this
 * minor number or a higher one. */
#define VYRE_ABI_MAJOR 1
#define VYRE_ABI_MINOR 0
#define VYRE_ABI (VYRE_ABI_MAJOR << 16 | VYRE_ABI_MINOR)

/* Whether a table reaches to the end of one of its fields: VYRE_HAS(host, program_wire). */
#define VYRE_HAS(table, field)                                                                     \
    ((size_t)((const char *)(&(table)->field + 1) - (const char *)(table)) <= (table)->struct_size)

typedef struct vyre_program vyre_program;
typedef struct vyre_status_object *vyre_status; /* NULL is success; see vyre_host */

/* What goes into a run, and what comes out. */

typedef struct vyre_input {
    const void *data; /* borrowed during the call; need not be aligned; NULL if size is 0 */
    size_t size;      /* bytes */
} vyre_input;

typedef struct vyre_output {
    uint8_t *data;
    size_t size; /* bytes */
} vyre_output;

/* How exact a device is; docs/semantics.md. */
#define VYRE_GRADES(X)                                                                             \
    X(EXACT, 0, "exact")               /* the reference's bytes, always */                         \
    X(NORMAL_RANGE, 1, "normal-range") /* as long as no operand or result is subnormal */

typedef enum vyre_grade {
#define VYRE_GRADE_ENUM(name, number, text) VYRE_GRADE_##name = number,
    VYRE_GRADES(VYRE_GRADE_ENUM)
#undef VYRE_GRADE_ENUM
} vyre_grade;

/* What a run asks of the program's determinism class. */
typedef enum vyre_demand {
    VYRE_DEMAND_NOTHING, /* any program may run */
    VYRE_DEMAND_CLAIMED, /* the author must claim that the result is always the same */
    VYRE_DEMAND_PROVEN   /* the verifier must have proven it */
} vyre_demand;

/* Zero means the default, for every field. */
typedef struct vyre_dispatch_config {
    uint64_t timeout_ns;       /* 0: none */
    uint64_t max_output_bytes; /* of all outputs together; 0: no limit */
    const char *label;         /* what people call this run, in logs and errors */
    uint64_t grid[3];          /* a domain in place of the one that a program of one phase has */
    uint32_t grade;            /* vyre_grade: the weakest that will do; exact by default */
    uint32_t determinism;      /* vyre_demand */
    uint64_t reserved[4];      /* the host refuses a config where one is not 0 */
} vyre_dispatch_config;

/* The part of the grid that a phase runs over. */
typedef struct vyre_grid {
    uint64_t domain[3]; /* invocations inside the domain; 1 beyond its dimensions */
    uint64_t groups[3]; /* workgroups; without a workgroup clause, zeros */
} vyre_grid;

/* One run, checked by the host against the program. Valid during the call. */
typedef struct vyre_call {
    const vyre_program *program;
    const vyre_dispatch_config *config; /* never NULL */
    const struct vyre_native *native;   /* the program, compiled by this backend; or NULL */

    /* In declaration order, without `out` buffers. NULL in calls with resident buffers. */
    const vyre_input *inputs;
    size_t input_count;

    /* By argument: the number of elements of a buffer, a scalar's value extended to 64 bits. */
    const uint64_t *arguments;
    size_t argument_count;

    /* By size of the program: its value, where it is one of the program's and no part of one.
     * Lengths of scratch arrays and counts of repeats are among them. */
    const uint64_t *sizes;
    size_t size_count;

    /* By phase; of one whose domain comes from memory, the largest it may be. */
    const vyre_grid *grids;
    size_t grid_count;

    size_t output_count;
    uint64_t reserved[4];
} vyre_call;

/* A time that was not taken. */
#define VYRE_NO_TIME UINT64_MAX

typedef struct vyre_timing {
    uint64_t wall_ns;    /* on the host, from call to result */
    uint64_t device_ns;  /* on the device */
    uint64_t enqueue_ns; /* until the device had its work */
    uint64_t wait_ns;    /* waiting for it */
    uint64_t reserved[4];
} vyre_timing;

/* What the host does for a backend. Lives as long as the process. */

/* Codes for status_make, the same numbers as VYRE_STATUS_ in status.h. */
typedef enum vyre_fail {
    VYRE_FAIL_INVALID_ARGUMENT = 1,
    VYRE_FAIL_MALFORMED = 3,
    VYRE_FAIL_LIMIT = 4,
    VYRE_FAIL_OUT_OF_MEMORY = 5,
    VYRE_FAIL_NOT_FOUND = 6, /* from `create`: there is no device of that number */
    VYRE_FAIL_UNSUPPORTED = 7,
    VYRE_FAIL_IO = 8,
    VYRE_FAIL_TIMEOUT = 9,
    VYRE_FAIL_DEVICE_LOST = 10,
    VYRE_FAIL_UNAVAILABLE = 11, /* from `create`: cannot run on this machine */
    VYRE_FAIL_BACKEND = 12      /* anything else that went wrong */
} vyre_fail;

typedef struct vyre_host {
    uint32_t struct_size;
    uint32_t abi;

    /* Never fails. `fix` says what to do about it, without "Fix: " in front; NULL if the message
     * has one. Statuses that a backend returns belong to the host. */
    vyre_status (*status_make)(uint32_t code, const char *fix, const char *message);
    uint32_t (*status_code)(vyre_status status);
    const char *(*status_text)(vyre_status status);
    void (*status_free)(vyre_status status);

    /* Memory through the host's allocator; NULL if there is none. Aligned for any C type. */
    void *(*alloc)(size_t size);
    void (*free)(void *memory);

    /* Levels 0 error, 1 warning, 2 info, 3 debug, 4 trace. One line. */
    void (*log)(uint32_t level, const char *message);

    /* The program's bytes, without names of locals; free them with `free`. */
    vyre_status (*program_wire)(const vyre_program *program, uint8_t **out_bytes, size_t *out_size);
    const char *(*program_name)(const vyre_program *program);
    /* Two programs of the same digest mean the same. */
    void (*program_digest)(const vyre_program *program, uint64_t out_digest[2]);
    const vyre_program *(*program_retain)(const vyre_program *program);
    void (*program_release)(const vyre_program *program);
} vyre_host;

/* Operations, as a set of their numbers in the binary form: number n is bit n % 64 of word n / 64.
 * Ten times as many as there are today. */
typedef struct vyre_op_set {
    uint64_t words[16];
} vyre_op_set;

/* Capabilities. A bit is set only if the lowering emits the real thing and the device has it: a
 * device that could, behind a lowering that does not, cannot. */
#define VYRE_FEATURES(X)                                                                           \
    X(SUBGROUP_OPS, 0, "subgroup_ops")             /* subgroup instructions */                     \
    X(F16, 1, "f16")                               /* binary16 arithmetic, not through f32 */      \
    X(BF16, 2, "bf16")                             /* bfloat16 arithmetic, not through f32 */      \
    X(TENSOR_CORES, 3, "tensor_cores")             /* matrix engines */                            \
    X(ASYNC_COMPUTE, 4, "async_compute")           /* copies and kernels overlap */                \
    X(INDIRECT_DISPATCH, 5, "indirect_dispatch")   /* grids from memory, without a round trip */   \
    X(SPECULATION, 6, "speculation")               /* prefilter and confirmation as one kernel */  \
    X(PERSISTENT_THREADS, 7, "persistent_threads") /* kernels that poll a queue of work */         \
    X(GRID_SYNC, 8, "grid_sync")                   /* grid barriers inside one dispatch */         \
    X(DISTRIBUTED, 9, "distributed")               /* one program over several devices */          \
    X(PHASES, 10, "phases") /* programs of several phases: repeat, scratch, domains from memory */

typedef enum vyre_feature {
#define VYRE_FEATURE_ENUM(name, bit, text) VYRE_FEATURE_##name = 1 << bit,
    VYRE_FEATURES(VYRE_FEATURE_ENUM)
#undef VYRE_FEATURE_ENUM
} vyre_feature;

#define VYRE_TIMING_QUALITIES(X)                                                                   \
    X(HOST_ONLY, 0, "host only")                                                                   \
    X(HOST_ENQUEUE_WAIT, 1, "host enqueue and wait")                                               \
    X(DEVICE_TIMESTAMPS, 2, "device timestamps")                                                   \
    X(HARDWARE_COUNTERS, 3, "hardware counters")

typedef enum vyre_timing_quality {
#define VYRE_TIMING_ENUM(name, number, text) VYRE_TIMING_##name = number,
    VYRE_TIMING_QUALITIES(VYRE_TIMING_ENUM)
#undef VYRE_TIMING_ENUM
} vyre_timing_quality;

/* What a device is; 0 means none, or not known. */
#define VYRE_PROFILE_FLAGS(X)                                                                      \
    X(SUPPORTS_SUBGROUP_OPS, 0, "supports_subgroup_ops")           /* by `features` */             \
    X(SUPPORTS_INDIRECT_DISPATCH, 1, "supports_indirect_dispatch") /* by `features` */             \
    X(SUPPORTS_SPECIALIZATION_CONSTANTS, 2, "supports_specialization_constants")                   \
    X(SUPPORTS_F16, 3, "supports_f16")   /* by `features` */                                       \
    X(SUPPORTS_BF16, 4, "supports_bf16") /* by `features` */                                       \
    X(SUPPORTS_TRAP_PROPAGATION, 5, "supports_trap_propagation")                                   \
    X(SUPPORTS_TENSOR_CORES, 6, "supports_tensor_cores") /* by `features` */                       \
    X(SUPPORTS_DEVICE_TIMESTAMPS, 7, "supports_device_timestamps")                                 \
    X(SUPPORTS_HARDWARE_COUNTERS, 8, "supports_hardware_counters")                                 \
    X(HAS_MUL_HIGH, 9, "has_mul_high")                                                             \
    X(HAS_DUAL_ISSUE_FP32_INT32, 10, "has_dual_issue_fp32_int32")                                  \
    X(HAS_SUBGROUP_SHUFFLE, 11, "has_subgroup_shuffle")                                            \
    X(HAS_SHARED_MEMORY, 12, "has_shared_memory")                                                  \
    X(IS_GPU, 13, "is_gpu")                                                                        \
    X(IS_SOFTWARE, 14, "is_software") /* a CPU behind the interface of a GPU */

typedef enum vyre_profile_flag {
#define VYRE_PROFILE_FLAG(name, bit, text) VYRE_PROFILE_##name = 1 << bit,
    VYRE_PROFILE_FLAGS(VYRE_PROFILE_FLAG)
#undef VYRE_PROFILE_FLAG
} vyre_profile_flag;

/* X(field). A list that is closed: what comes later lies in the reserved words. */
#define VYRE_PROFILE_NUMBERS(X)                                                                    \
    X(max_native_int_width)                                                                        \
    X(max_invocations_per_workgroup) /* by the slot */                                             \
    X(max_shared_memory_bytes)                                                                     \
    X(max_storage_buffer_bytes) /* by the slot */                                                  \
    X(subgroup_size)            /* by the slot */                                                  \
    X(compute_units)                                                                               \
    X(regs_per_thread_max)                                                                         \
    X(l1_cache_bytes)                                                                              \
    X(l2_cache_bytes)                                                                              \
    X(memory_bandwidth_gbps)                                                                       \
    X(ideal_unroll_depth)                                                                          \
    X(ideal_vector_pack_bits)                                                                      \
    X(shared_memory_bank_count)                                                                    \
    X(shared_memory_bank_width_bytes)

/* What is marked "by" a slot the host fills in from that slot, whatever stands there: there is one
 * place for each fact. */
typedef struct vyre_profile {
    const char *backend; /* by `id` */
    const char *device;  /* the device's own name; "" if it has none */
    const char *driver;  /* version of what drives it; "" if there is none */
    uint64_t flags;      /* VYRE_PROFILE_ bits */
#define VYRE_PROFILE_NUMBER(field) uint64_t field;
    VYRE_PROFILE_NUMBERS(VYRE_PROFILE_NUMBER)
#undef VYRE_PROFILE_NUMBER
    uint32_t max_workgroup_size[3];           /* by the slot */
    uint32_t max_workgroups_per_dimension[3]; /* by the slot */
    uint32_t ideal_workgroup_tile[3];
    uint32_t timing_quality; /* vyre_timing_quality */
    uint32_t grade;          /* vyre_grade */
    uint32_t unused;         /* 0 */
    uint64_t reserved[16];
} vyre_profile;

/* A backend that was created. The host fills everything but `state`, and `slots` with a table that
 * has no holes, so that a backend may call its own slots. First argument of every slot. */
typedef struct vyre_backend_slots vyre_backend_slots;

typedef struct vyre_backend {
    const vyre_backend_slots *slots;
    void *state; /* the backend's own */
    const vyre_host *host;
} vyre_backend;

/* A run that goes on while the host does other things. What is left of these calls may come after
 * the backend's `shutdown`, which a `flush` has preceded, and after its `try_recover`. */
typedef struct vyre_run_slots {
    uint32_t struct_size;
    uint32_t abi;
    /* All required. */
    bool (*is_ready)(void *state);    /* never blocks */
    vyre_status (*wait)(void *state); /* called once; outputs are written when it returns success */
    void (*free)(void *state);        /* once; a run that was not waited for is called off */
} vyre_run_slots;

#define VYRE_RUN_HEAD sizeof(vyre_run_slots), VYRE_ABI

typedef struct vyre_pending_run {
    const vyre_run_slots *slots; /* as long as the process */
    void *state;
} vyre_pending_run;

/* A program that was compiled. */
typedef struct vyre_pipeline_slots vyre_pipeline_slots;

typedef struct vyre_native {
    const vyre_pipeline_slots *slots; /* NULL: there is no native pipeline */
    void *state;
    const vyre_backend *backend; /* set by the host */
    /* A form that can be stored, given back to a later compile of the same program by the same
     * version of the backend for the same device; NULL if there is none. From host->alloc; the host
     * frees it. */
    uint8_t *artifact;
    size_t artifact_size;
} vyre_native;

typedef struct vyre_compile {
    const vyre_program *program;
    const uint8_t *artifact; /* of before, checked to belong to this program; or NULL. After an
                              * error the host compiles again without it */
    size_t artifact_size;
    uint64_t reserved[4];
} vyre_compile;

typedef struct vyre_cache_counts {
    uint64_t hits, misses, entries, bytes;
} vyre_cache_counts;

#define VYRE_BACKEND_MARKER                                                                        \
    UINT64_C(0x7679726562656e64) /* only who means to be a backend has it                          \
                                  */

struct vyre_backend_slots {
    uint32_t struct_size;
    uint32_t abi;
    uint64_t marker;
    uint64_t reserved[2]; /* zero */

    /* Required: the same string as in the registration; stable and unique in a process. */
    const char *(*id)(const vyre_backend *backend);

    /* Required: runs a program. `inputs` lie in the host's memory, aligned for any C type, and may
     * be overwritten. `outputs` are call->output_count buffers of the right sizes with anything in
     * them: the `inout` and `out` buffers in declaration order. Each byte must be written: what the
     * program does not store is 0 in an `out` buffer, and the input's in an `inout` one. */
    vyre_status (*dispatch)(const vyre_backend *backend, const vyre_call *call,
                            vyre_output *outputs);

    /* Of the implementation. Default: "unspecified". */
    const char *(*version)(const vyre_backend *backend);

    /* Programs that use other operations are refused by the host. Default: the core set, which is
     * all operations of the language. */
    const vyre_op_set *(*supported_ops)(const vyre_backend *backend);

    /* `dispatch` for inputs of any alignment that must not be written to. Default: copies each
     * input once and calls `dispatch` once. */
    vyre_status (*dispatch_borrowed)(const vyre_backend *backend, const vyre_call *call,
                                     vyre_output *outputs);

    /* The same with times. Default: `dispatch_borrowed`, wall time alone. */
    vyre_status (*dispatch_borrowed_timed)(const vyre_backend *backend, const vyre_call *call,
                                           vyre_output *outputs, vyre_timing *out_timing);

    /* The same into memory of the caller, of any alignment, apart from the inputs. After a failure
     * a backend that has this slot may leave anything in it. Default: `dispatch_borrowed` into
     * other memory, copied after success, so that a failure changes nothing. */
    vyre_status (*dispatch_borrowed_into)(const vyre_backend *backend, const vyre_call *call,
                                          vyre_output *outputs);

    /* Starts a run. An error that keeps it from starting is returned here, all others by the wait.
     * What the inputs and `outputs` point to, and `outputs` itself, stay until the run is freed;
     * all else in the call is gone when it returns. Default: `dispatch`, and a run that is ready at
     * once. */
    vyre_status (*dispatch_async)(const vyre_backend *backend, const vyre_call *call,
                                  vyre_output *outputs, vyre_pending_run *out_run);

    /* The same for borrowed inputs, which are gone when it returns. Default: `dispatch_borrowed`,
     * and a run that is ready at once. */
    vyre_status (*dispatch_borrowed_async)(const vyre_backend *backend, const vyre_call *call,
                                           vyre_output *outputs, vyre_pending_run *out_run);

    /* Resident buffers: memory of the device, known by a number of the backend's choice; a size may
     * be 0. The host sees to it that only live ones come here, with sizes that fit, that none is
     * freed while it is in use, and that a call which writes a buffer is the only one that has it.
     * What is left to the backend: work that was enqueued, and whatever comes after it on the same
     * buffer, runs in the order in which it was submitted. Default of each: UNSUPPORTED. */
    vyre_status (*resident_allocate)(const vyre_backend *backend, size_t size,
                                     uint64_t *out_buffer);
    vyre_status (*resident_upload)(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                   const void *data, size_t size);
    vyre_status (*resident_read)(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                 void *data, size_t size);
    vyre_status (*resident_free)(const vyre_backend *backend, uint64_t buffer);

    /* Runs on resident buffers, by argument; 0 for a scalar, whose value is in call->arguments.
     * What the program writes stays there; `out` buffers read as 0 before the first write. */
    vyre_status (*resident_dispatch_timed)(const vyre_backend *backend, const vyre_call *call,
                                           const uint64_t *buffers, vyre_timing *out_timing);

    /* Work that was enqueued has a ticket, never 0; a later one has a higher number. ticket_done
     * never blocks. Waiting returns what went wrong with that work, each time it is asked, or not
     * at all if nobody asks. Default: everything is done, and went well. */
    bool (*ticket_done)(const vyre_backend *backend, uint64_t ticket);
    vyre_status (*ticket_wait)(const vyre_backend *backend, uint64_t ticket);

    /* Compiles a program for many runs. The pipeline gives the same bytes as `dispatch`. The
     * program is valid during the call. An error means that the program cannot run here at all.
     * Default: there is no native pipeline; every run goes through the slots above. */
    vyre_status (*compile_native)(const vyre_backend *backend, const vyre_compile *compile,
                                  vyre_native *out_native);

    /* The same for who wants to keep the program, with host->program_retain. The host calls this
     * one. Default: `compile_native`. */
    vyre_status (*compile_native_shared)(const vyre_backend *backend, const vyre_compile *compile,
                                         vyre_native *out_native);

    /* Counts of a cache of the backend's own; false if it has none. Default: false. */
    bool (*cache_snapshot)(const vyre_backend *backend, vyre_cache_counts *out_counts);

    /* VYRE_FEATURE_ bits. Default: none. */
    uint32_t (*features)(const vyre_backend *backend);

    /* Of each dimension; the host refuses programs that ask for more. Default: 1, 1, 1. */
    void (*max_workgroup_size)(const vyre_backend *backend, uint32_t out_size[3]);
    /* Of a phase with a workgroup clause, in each dimension; the host refuses runs over more, where
     * the domain does not come from memory. Default: 1, 1, 1. */
    void (*max_workgroups_per_dimension)(const vyre_backend *backend, uint32_t out_count[3]);
    /* Checked like the dimensions. Default: their product, at most UINT32_MAX. */
    uint32_t (*max_invocations_per_workgroup)(const vyre_backend *backend);
    /* 0: not known; planners then go by the largest workgroup. Where it is known, workgroups should
     * be a multiple. Default: 0. */
    uint32_t (*subgroup_size)(const vyre_backend *backend);
    /* Of one buffer or scratch array; the host refuses runs with a larger one. 0: not reported,
     * which does not mean without limit. Default: 0. */
    uint64_t (*max_storage_buffer_bytes)(const vyre_backend *backend);

    /* All of it at once, from a zeroed structure. What the slots above say the host adds. Default:
     * max_native_int_width 32, subgroup shuffles where there are subgroup operations, the rest 0.
     */
    void (*device_profile)(const vyre_backend *backend, vyre_profile *out_profile);

    /* Called before the first compile, run or resident buffer, and again after `try_recover`; by
     * who wants to pay early, sooner. Default: nothing. */
    vyre_status (*prepare)(const vyre_backend *backend);
    /* Waits for all work that was submitted. Default: nothing. */
    vyre_status (*flush)(const vyre_backend *backend);
    /* Gives back what the device holds. Nothing runs after it; what is left is to destroy pipelines
     * that somebody holds, and `destroy`. Default: nothing. */
    vyre_status (*shutdown)(const vyre_backend *backend);
    /* Whether the device is gone. Default: false. */
    bool (*device_lost)(const vyre_backend *backend);
    /* Takes hold of the device again; pipelines and resident buffers of before are gone, and the
     * former are only destroyed from then on. No call that uses them goes on meanwhile: those that
     * other threads began end first, and must. Default: UNSUPPORTED. */
    vyre_status (*try_recover)(const vyre_backend *backend);

    /* Frees `state`, the last call, after all pipelines are freed. Default: nothing. */
    void (*destroy)(const vyre_backend *backend);
};

#define VYRE_BACKEND_HEAD                                                                          \
    sizeof(vyre_backend_slots), VYRE_ABI, VYRE_BACKEND_MARKER, {                                   \
        0, 0                                                                                       \
    }

/* The table of a pipeline. `call->program` is the one it was compiled from. Slots mean what those
 * of the backend mean, and defaults follow in the same way from the pipeline's own `dispatch`; if
 * that is NULL, all runs go through the backend's. So do the forms that are not here, asynchronous
 * and timed resident runs, with the pipeline in call->native. */
struct vyre_pipeline_slots {
    uint32_t struct_size;
    uint32_t abi;
    uint64_t reserved[2]; /* zero */

    vyre_status (*dispatch)(const vyre_native *native, const vyre_call *call, vyre_output *outputs);
    vyre_status (*dispatch_borrowed)(const vyre_native *native, const vyre_call *call,
                                     vyre_output *outputs);
    vyre_status (*dispatch_borrowed_timed)(const vyre_native *native, const vyre_call *call,
                                           vyre_output *outputs, vyre_timing *out_timing);
    vyre_status (*dispatch_borrowed_into)(const vyre_native *native, const vyre_call *call,
                                          vyre_output *outputs);

    /* Starts a run on resident buffers and returns. Default: the backend's
     * resident_dispatch_timed, and ticket 0 for work that is done. */
    vyre_status (*enqueue)(const vyre_native *native, const vyre_call *call,
                           const uint64_t *buffers, uint64_t *out_ticket);

    /* What it holds in memory, for the cache's budget. Default: 0. */
    uint64_t (*size_bytes)(const vyre_native *native);

    /* Frees `state`. Default: nothing. */
    void (*destroy)(const vyre_native *native);
};

#define VYRE_PIPELINE_HEAD                                                                         \
    sizeof(vyre_pipeline_slots), VYRE_ABI, {                                                       \
        0, 0                                                                                       \
    }

/* How a backend becomes known. All strings and tables live as long as the process. */

typedef struct vyre_registration {
    const char *id; /* first in every row, so that one walk finds all */
    /* Makes the backend for a device, counted from 0. What keeps it from running on this machine is
     * a status with a Fix. `out_backend` is zeroed but for `host`. */
    vyre_status (*create)(const vyre_host *host, uint32_t device, vyre_backend *out_backend);
    /* What the slot `supported_ops` will say, without creating it; NULL: not known before. */
    const vyre_op_set *(*supported_ops)(void);
    /* How many devices there are, for lists; 0 also where that cannot be told, and `create` says
     * why. NULL: one. */
    uint32_t (*device_count)(const vyre_host *host);
} vyre_registration;

/* Lower ranks are preferred; a backend without one comes last. */
#define VYRE_NO_RANK UINT32_MAX

typedef struct vyre_precedence {
    const char *id;
    uint32_t rank;
} vyre_precedence;

/* Whether `dispatch` runs programs; a backend that only translates them says false. Without an
 * entry it does not dispatch. */
typedef struct vyre_capability {
    const char *id;
    bool dispatches;
} vyre_capability;

/* What one object brings, for each of the three; and how large each row is, which is how far it is
 * from one to the next. */
typedef struct vyre_bundle {
    uint32_t struct_size;
    uint32_t abi;
    uint32_t registration_size;
    uint32_t precedence_size;
    uint32_t capability_size;
    uint32_t reserved; /* 0 */
    const vyre_registration *registrations;
    size_t registration_count;
    const vyre_precedence *precedences;
    size_t precedence_count;
    const vyre_capability *capabilities;
    size_t capability_count;
} vyre_bundle;

#define VYRE_BUNDLE_HEAD                                                                           \
    sizeof(vyre_bundle), VYRE_ABI, sizeof(vyre_registration), sizeof(vyre_precedence),             \
        sizeof(vyre_capability), 0

/* The one symbol of a plugin: `vyre_backend_query`. `max_abi` (major << 16 | minor) is the host's.
 * Gives a bundle of that major number whose `abi` is not higher, or NULL if it has none. */
typedef const vyre_bundle *(*vyre_backend_query_function)(uint32_t max_abi);
#define VYRE_BACKEND_QUERY "vyre_backend_query"

#ifdef __cplusplus
}
#endif

#endif
