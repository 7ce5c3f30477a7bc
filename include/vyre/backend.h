/* Backend: the contract between vyre and a backend, for authors of backends.
 *
 * A backend runs valid programs on inputs. It is thread-safe and deterministic, and a successful
 * run gives the same bytes as the reference backend. It refuses a program that it cannot run with
 * VYRE_FAIL_UNSUPPORTED.
 *
 * A backend is a table of functions, the slots. Only `id` and `dispatch` are required. Any other
 * slot may be NULL: the host copies the table and fills in the default, which the slot's comment
 * gives. Source text of a device's own language is not part of the contract.
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
 * This header includes only the C standard library, and a plugin need not link libvyre. Programs
 * are opaque here: the host gives their bytes (docs/wire.md), and a backend that links libvyre can
 * decode them. examples/backend-plugin is a complete backend.
 *
 * Compatibility. Within a major version nothing here changes or goes away. A minor version adds in
 * two ways (docs/backends.md):
 *
 *   - Tables and rows of a bundle grow at the end. A table starts with its `struct_size`; the
 *     bundle has the sizes of its rows. Never read past that size. The host fills missing slots
 *     with defaults and ignores unknown ones. A backend checks VYRE_HAS before it uses a host
 *     service newer than 1.0.
 *   - All other structures keep their size and may be copied. Their `reserved` words are 0; if a
 *     later version defines one, 0 remains the default.
 *
 * Enumerations only gain members. */
#ifndef VYRE_BACKEND_H
#define VYRE_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The host that a table or bundle needs: the same major version, and this minor version or a later
 * one. */
#define VYRE_ABI_MAJOR 1
#define VYRE_ABI_MINOR 3
#define VYRE_ABI (VYRE_ABI_MAJOR << 16 | VYRE_ABI_MINOR)

/* Whether a table is long enough to contain a field: VYRE_HAS(host, program_wire). */
#define VYRE_HAS(table, field)                                                                     \
    ((size_t)((const char *)(&(table)->field + 1) - (const char *)(table)) <= (table)->struct_size)

typedef struct vyre_program vyre_program;
typedef struct vyre_status_object *vyre_status; /* NULL is success; see vyre_host */

/* Runs: inputs, outputs and options. */

typedef struct vyre_input {
    const void *data; /* valid during the call; any alignment; NULL if size is 0 */
    size_t size;      /* bytes */
} vyre_input;

typedef struct vyre_output {
    uint8_t *data;
    size_t size; /* bytes */
} vyre_output;

/* Since 1.3. The memory of a resident buffer. */
typedef struct vyre_memory {
    uint64_t address;     /* in the address space of `place` */
    size_t size;          /* bytes */
    uint32_t place;       /* VYRE_MEMORY_HOST or VYRE_MEMORY_DEVICE */
    uint32_t flags;       /* VYRE_MEMORY_READ_ONLY */
    uint64_t reserved[4]; /* must be 0 */
} vyre_memory;

enum {
    VYRE_MEMORY_HOST = 1,   /* an address of this process */
    VYRE_MEMORY_DEVICE = 2, /* an address of the device, for example a CUdeviceptr */
    VYRE_MEMORY_READ_ONLY = 1
};

/* How exact a device is (docs/semantics.md). */
#define VYRE_GRADES(X)                                                                             \
    X(EXACT, 0, "exact")               /* always the bytes of the reference */                     \
    X(NORMAL_RANGE, 1, "normal-range") /* exact if no operand or result is subnormal */

typedef enum vyre_grade {
#define VYRE_GRADE_ENUM(name, number, text) VYRE_GRADE_##name = number,
    VYRE_GRADES(VYRE_GRADE_ENUM)
#undef VYRE_GRADE_ENUM
} vyre_grade;

/* The determinism that a run requires of its program. */
typedef enum vyre_demand {
    VYRE_DEMAND_NOTHING, /* any program may run */
    VYRE_DEMAND_CLAIMED, /* the author must claim determinism */
    VYRE_DEMAND_PROVEN   /* the verifier must have proven determinism */
} vyre_demand;

/* Zero means the default. */
typedef struct vyre_dispatch_config {
    uint64_t timeout_ns;        /* 0: none */
    uint64_t max_output_bytes;  /* of all outputs together; 0: no limit */
    const char *label;          /* name of the run in logs and errors */
    uint64_t grid[3];           /* replaces the domain of a program with one phase */
    uint32_t grade;             /* vyre_grade: the weakest that is acceptable; exact by default */
    uint32_t determinism;       /* vyre_demand */
    struct vyre_prints *prints; /* since 1.2: receives messages (dispatch.h); NULL: the kernel does
                                 * not print. NULL in calls of a backend */
    uint64_t flags;             /* since 1.2: VYRE_DISPATCH_ bits. In calls of a backend only
                                 * VYRE_DISPATCH_STREAM, and only if it has the feature `streams` */
    uint64_t stream;            /* since 1.3: the caller's stream, with VYRE_DISPATCH_STREAM: the
                                 * device's own handle, a CUstream for cuda; else 0 */
    uint64_t reserved[1];       /* must be 0 */
} vyre_dispatch_config;

enum {
    VYRE_DISPATCH_NO_ASSERTS = 1, /* leaves out the asserts of the kernel */
    VYRE_DISPATCH_STREAM = 2      /* since 1.3: orders a run on resident buffers with `stream` */
};

/* The grid of a phase. */
typedef struct vyre_grid {
    uint64_t domain[3]; /* invocations inside the domain; 1 in unused dimensions */
    uint64_t groups[3]; /* workgroups; zeros without a workgroup clause */
} vyre_grid;

/* One run, which the host has checked against the program. Valid during the call. */
typedef struct vyre_call {
    const vyre_program *program;
    const vyre_dispatch_config *config; /* never NULL */
    const struct vyre_native *native;   /* compiled by this backend, or NULL */

    /* In declaration order, without `out` buffers. NULL in calls with resident buffers. */
    const vyre_input *inputs;
    size_t input_count;

    /* One number for each argument: the length of a buffer in elements, or the value of a scalar,
     * extended to 64 bits. */
    const uint64_t *arguments;
    size_t argument_count;

    /* The value of each size expression of the program, at the index of the size. Lengths of
     * scratch arrays and repeat counts are sizes. Entries of subexpressions are undefined. */
    const uint64_t *sizes;
    size_t size_count;

    /* One for each phase. If the domain comes from memory, this is its maximum. */
    const vyre_grid *grids;
    size_t grid_count;

    size_t output_count;
    uint64_t reserved[4];
} vyre_call;

/* Means that a time was not measured. */
#define VYRE_NO_TIME UINT64_MAX

typedef struct vyre_timing {
    uint64_t wall_ns;    /* on the host, for the whole call */
    uint64_t device_ns;  /* on the device */
    uint64_t enqueue_ns; /* until the work was submitted */
    uint64_t wait_ns;    /* waiting for the device */
    uint64_t reserved[4];
} vyre_timing;

/* Services of the host. They are valid for the life of the process. */

/* Codes for status_make, the same numbers as VYRE_STATUS_ in status.h. */
typedef enum vyre_fail {
    VYRE_FAIL_INVALID_ARGUMENT = 1,
    VYRE_FAIL_MALFORMED = 3,
    VYRE_FAIL_LIMIT = 4,
    VYRE_FAIL_OUT_OF_MEMORY = 5,
    VYRE_FAIL_NOT_FOUND = 6, /* from `create`: no device has that number */
    VYRE_FAIL_UNSUPPORTED = 7,
    VYRE_FAIL_IO = 8,
    VYRE_FAIL_TIMEOUT = 9,
    VYRE_FAIL_DEVICE_LOST = 10,
    VYRE_FAIL_UNAVAILABLE = 11, /* from `create`: this machine cannot run the backend */
    VYRE_FAIL_BACKEND = 12      /* any other error */
} vyre_fail;

typedef struct vyre_host {
    uint32_t struct_size;
    uint32_t abi;

    /* Makes a status; never fails. `fix` is the advice without "Fix: ", or NULL if the message
     * contains one. The host takes ownership of statuses that a backend returns. */
    vyre_status (*status_make)(uint32_t code, const char *fix, const char *message);
    uint32_t (*status_code)(vyre_status status);
    const char *(*status_text)(vyre_status status);
    void (*status_free)(vyre_status status);

    /* Allocates through the host's allocator, aligned for any C type. Returns NULL if memory runs
     * out. */
    void *(*alloc)(size_t size);
    void (*free)(void *memory);

    /* Logs one line. Levels: 0 error, 1 warning, 2 info, 3 debug, 4 trace. */
    void (*log)(uint32_t level, const char *message);

    /* Encodes a program without names of locals. Free the bytes with `free`. */
    vyre_status (*program_wire)(const vyre_program *program, uint8_t **out_bytes, size_t *out_size);
    const char *(*program_name)(const vyre_program *program);
    /* Programs with the same digest have the same meaning. */
    void (*program_digest)(const vyre_program *program, uint64_t out_digest[2]);
    const vyre_program *(*program_retain)(const vyre_program *program);
    void (*program_release)(const vyre_program *program);
} vyre_host;

/* A set of operations. Number n of the binary form is bit n % 64 of word n / 64. */
typedef struct vyre_op_set {
    uint64_t words[16];
} vyre_op_set;

/* Features. Set a bit only if the device has the feature and the backend's code really uses it. */
#define VYRE_FEATURES(X)                                                                           \
    X(SUBGROUP_OPS, 0, "subgroup_ops")           /* subgroup instructions */                       \
    X(F16, 1, "f16")                             /* binary16 arithmetic, not through f32 */        \
    X(BF16, 2, "bf16")                           /* bfloat16 arithmetic, not through f32 */        \
    X(TENSOR_CORES, 3, "tensor_cores")           /* matrix units */                                \
    X(ASYNC_COMPUTE, 4, "async_compute")         /* copies and kernels overlap */                  \
    X(INDIRECT_DISPATCH, 5, "indirect_dispatch") /* domains from memory, no round trip */          \
    X(SPECULATION, 6, "speculation") /* a filter and its check fused into one kernel */            \
    X(PERSISTENT_THREADS, 7, "persistent_threads") /* kernels that poll a work queue */            \
    X(GRID_SYNC, 8, "grid_sync")                   /* grid barriers inside one dispatch */         \
    X(DISTRIBUTED, 9, "distributed")               /* one program on several devices */            \
    X(PHASES, 10, "phases") /* several phases: repeat, scratch arrays, domains from memory */      \
    X(CONSTANT_ARRAYS, 11, "constant_arrays") /* since 1.2; else the host passes buffers */        \
    X(STEPS, 12, "steps")     /* since 1.2: swap, if, counters in sizes, memory domains in 3D */   \
    X(RECORDS, 13, "records") /* buffers of records, since 1.2; else the host lowers them */       \
    X(STREAMS, 14, "streams") /* since 1.3: runs on resident buffers obey VYRE_DISPATCH_STREAM */

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

/* Properties of a device; 0 means none or unknown. */
#define VYRE_PROFILE_FLAGS(X)                                                                      \
    X(SUPPORTS_SUBGROUP_OPS, 0, "supports_subgroup_ops")           /* from `features` */           \
    X(SUPPORTS_INDIRECT_DISPATCH, 1, "supports_indirect_dispatch") /* from `features` */           \
    X(SUPPORTS_SPECIALIZATION_CONSTANTS, 2, "supports_specialization_constants")                   \
    X(SUPPORTS_F16, 3, "supports_f16")   /* from `features` */                                     \
    X(SUPPORTS_BF16, 4, "supports_bf16") /* from `features` */                                     \
    X(SUPPORTS_TRAP_PROPAGATION, 5, "supports_trap_propagation")                                   \
    X(SUPPORTS_TENSOR_CORES, 6, "supports_tensor_cores") /* from `features` */                     \
    X(SUPPORTS_DEVICE_TIMESTAMPS, 7, "supports_device_timestamps")                                 \
    X(SUPPORTS_HARDWARE_COUNTERS, 8, "supports_hardware_counters")                                 \
    X(HAS_MUL_HIGH, 9, "has_mul_high")                                                             \
    X(HAS_DUAL_ISSUE_FP32_INT32, 10, "has_dual_issue_fp32_int32")                                  \
    X(HAS_SUBGROUP_SHUFFLE, 11, "has_subgroup_shuffle")                                            \
    X(HAS_SHARED_MEMORY, 12, "has_shared_memory")                                                  \
    X(IS_GPU, 13, "is_gpu")                                                                        \
    X(IS_SOFTWARE, 14, "is_software") /* a CPU behind a GPU interface */

typedef enum vyre_profile_flag {
#define VYRE_PROFILE_FLAG(name, bit, text) VYRE_PROFILE_##name = 1 << bit,
    VYRE_PROFILE_FLAGS(VYRE_PROFILE_FLAG)
#undef VYRE_PROFILE_FLAG
} vyre_profile_flag;

/* X(field). The list is closed: later fields use the reserved words. */
#define VYRE_PROFILE_NUMBERS(X)                                                                    \
    X(max_native_int_width)                                                                        \
    X(max_invocations_per_workgroup) /* from the slot */                                           \
    X(max_shared_memory_bytes)                                                                     \
    X(max_storage_buffer_bytes) /* from the slot */                                                \
    X(subgroup_size)            /* from the slot */                                                \
    X(compute_units)                                                                               \
    X(regs_per_thread_max)                                                                         \
    X(l1_cache_bytes)                                                                              \
    X(l2_cache_bytes)                                                                              \
    X(memory_bandwidth_gbps)                                                                       \
    X(ideal_unroll_depth)                                                                          \
    X(ideal_vector_pack_bits)                                                                      \
    X(shared_memory_bank_count)                                                                    \
    X(shared_memory_bank_width_bytes)

/* The host overwrites each field marked "from" with the value of that slot, so every fact has one
 * source. */
typedef struct vyre_profile {
    const char *backend; /* from `id` */
    const char *device;  /* the device's own name, or "" */
    const char *driver;  /* version of its driver, or "" */
    uint64_t flags;      /* VYRE_PROFILE_ bits */
#define VYRE_PROFILE_NUMBER(field) uint64_t field;
    VYRE_PROFILE_NUMBERS(VYRE_PROFILE_NUMBER)
#undef VYRE_PROFILE_NUMBER
    uint32_t max_workgroup_size[3];           /* from the slot */
    uint32_t max_workgroups_per_dimension[3]; /* from the slot */
    uint32_t ideal_workgroup_tile[3];
    uint32_t timing_quality; /* vyre_timing_quality */
    uint32_t grade;          /* vyre_grade */
    uint32_t unused;         /* 0 */
    uint64_t reserved[16];
} vyre_profile;

/* A created backend, the first argument of every slot. The backend sets `slots` and `state`. The
 * host then replaces `slots` with a complete table, so a backend may call its own slots. */
typedef struct vyre_backend_slots vyre_backend_slots;

typedef struct vyre_backend {
    const vyre_backend_slots *slots;
    void *state; /* private to the backend */
    const vyre_host *host;
} vyre_backend;

/* An asynchronous run. The host may still make these calls after `flush` and `shutdown` of the
 * backend, and after `try_recover`. */
typedef struct vyre_run_slots {
    uint32_t struct_size;
    uint32_t abi;
    /* All are required. */
    bool (*is_ready)(void *state);    /* never blocks */
    vyre_status (*wait)(void *state); /* called once; success means that the outputs are written */
    void (*free)(void *state);        /* called once; cancels a run that was not waited for */
} vyre_run_slots;

#define VYRE_RUN_HEAD sizeof(vyre_run_slots), VYRE_ABI

typedef struct vyre_pending_run {
    const vyre_run_slots *slots; /* valid for the life of the process */
    void *state;
} vyre_pending_run;

/* A compiled program. */
typedef struct vyre_pipeline_slots vyre_pipeline_slots;

typedef struct vyre_native {
    const vyre_pipeline_slots *slots; /* NULL: no native pipeline */
    void *state;
    const vyre_backend *backend; /* set by the host */
    /* Storable code, or NULL. The host passes it to later compiles of the same program by the same
     * backend version for the same device. The backend allocates it with host->alloc; the host
     * frees it. */
    uint8_t *artifact;
    size_t artifact_size;
} vyre_native;

typedef struct vyre_compile {
    const vyre_program *program;
    const uint8_t *artifact; /* from an earlier compile of this program, or NULL. If compiling with
                                it fails, the host tries again without it */
    size_t artifact_size;
    uint64_t timeout_ns; /* since 1.1. The time left for compiling; 0: no limit. The host does not
                          * wait longer, and drops a later result */
    uint64_t reserved[3];
} vyre_compile;

typedef struct vyre_cache_counts {
    uint64_t hits, misses, entries, bytes;
} vyre_cache_counts;

#define VYRE_BACKEND_MARKER UINT64_C(0x7679726562656e64) /* identifies a backend table */

struct vyre_backend_slots {
    uint32_t struct_size;
    uint32_t abi;
    uint64_t marker;
    uint64_t reserved[2]; /* zero */

    /* Required. Returns the id of the registration, which is stable and unique in a process. */
    const char *(*id)(const vyre_backend *backend);

    /* Required. Runs a program. Inputs are aligned for any C type, and the backend may overwrite
     * them.
     *
     * `outputs` are call->output_count buffers with the right sizes and undefined contents: the
     * `inout` and `out` buffers in declaration order. The backend must write every byte. What the
     * program does not store is 0 in an `out` buffer, and the input in an `inout` buffer. */
    vyre_status (*dispatch)(const vyre_backend *backend, const vyre_call *call,
                            vyre_output *outputs);

    /* Returns the version of the implementation. Default: "unspecified". */
    const char *(*version)(const vyre_backend *backend);

    /* Returns the supported operations; the host refuses programs that use others. Default: the
     * core set, which contains all operations of the language. */
    const vyre_op_set *(*supported_ops)(const vyre_backend *backend);

    /* Like `dispatch`, but inputs have any alignment and are read-only. Default: copies each input
     * once and calls `dispatch` once. */
    vyre_status (*dispatch_borrowed)(const vyre_backend *backend, const vyre_call *call,
                                     vyre_output *outputs);

    /* Like `dispatch_borrowed`, with times. Default: only the wall time of `dispatch_borrowed`. */
    vyre_status (*dispatch_borrowed_timed)(const vyre_backend *backend, const vyre_call *call,
                                           vyre_output *outputs, vyre_timing *out_timing);

    /* Like `dispatch_borrowed`, but writes into the caller's memory, which has any alignment and
     * does not overlap the inputs. After a failure the backend may leave anything in it. Default:
     * runs `dispatch_borrowed` into other memory and copies on success, so a failure changes
     * nothing. */
    vyre_status (*dispatch_borrowed_into)(const vyre_backend *backend, const vyre_call *call,
                                          vyre_output *outputs);

    /* Starts a run. It returns errors that prevent the start; `wait` returns all others. The
     * inputs' data, `outputs` and their data stay valid until the run is freed; the rest of the
     * call does not. Default: runs `dispatch` and returns a finished run. */
    vyre_status (*dispatch_async)(const vyre_backend *backend, const vyre_call *call,
                                  vyre_output *outputs, vyre_pending_run *out_run);

    /* Like `dispatch_async`, but the inputs are valid only during the call. Default: runs
     * `dispatch_borrowed` and returns a finished run. */
    vyre_status (*dispatch_borrowed_async)(const vyre_backend *backend, const vyre_call *call,
                                           vyre_output *outputs, vyre_pending_run *out_run);

    /* Resident buffers: device memory, identified by a number that the backend chooses. A size may
     * be 0.
     *
     * The host passes only live buffers and valid ranges, never frees a buffer in use, and never
     * lets another call use a buffer while one writes it. The backend runs enqueued work and later
     * calls on the same buffer in the order of submission. Default of each: UNSUPPORTED. */
    vyre_status (*resident_allocate)(const vyre_backend *backend, size_t size,
                                     uint64_t *out_buffer);
    vyre_status (*resident_upload)(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                   const void *data, size_t size);
    vyre_status (*resident_read)(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                 void *data, size_t size);
    vyre_status (*resident_free)(const vyre_backend *backend, uint64_t buffer);

    /* Runs on resident buffers, one for each argument; 0 for a scalar, whose value is in
     * call->arguments. Outputs stay on the device. `out` buffers read as 0 until written. */
    vyre_status (*resident_dispatch_timed)(const vyre_backend *backend, const vyre_call *call,
                                           const uint64_t *buffers, vyre_timing *out_timing);

    /* Tickets of enqueued work: never 0, and increasing. ticket_done never blocks. ticket_wait
     * returns the error of the work every time it is called. Default: all work is done, without
     * error. */
    bool (*ticket_done)(const vyre_backend *backend, uint64_t ticket);
    vyre_status (*ticket_wait)(const vyre_backend *backend, uint64_t ticket);

    /* Compiles a program for many runs. The pipeline must give the same bytes as `dispatch`. The
     * program is valid during the call. An error means that the program cannot run on this backend
     * at all. Default: no native pipeline, so every run uses the slots above. */
    vyre_status (*compile_native)(const vyre_backend *backend, const vyre_compile *compile,
                                  vyre_native *out_native);

    /* Like compile_native, but the backend may retain the program (host->program_retain). The host
     * calls this slot. Default: calls compile_native. */
    vyre_status (*compile_native_shared)(const vyre_backend *backend, const vyre_compile *compile,
                                         vyre_native *out_native);

    /* Returns the counts of the backend's own cache; false if it has none. Default: false. */
    bool (*cache_snapshot)(const vyre_backend *backend, vyre_cache_counts *out_counts);

    /* VYRE_FEATURE_ bits. Default: none. */
    uint32_t (*features)(const vyre_backend *backend);

    /* Largest in each dimension. The host refuses programs that need more. Default: 1, 1, 1. */
    void (*max_workgroup_size)(const vyre_backend *backend, uint32_t out_size[3]);
    /* Most workgroups in each dimension of a phase with a workgroup clause. The host refuses larger
     * runs, unless the domain comes from memory. Default: 1, 1, 1. */
    void (*max_workgroups_per_dimension)(const vyre_backend *backend, uint32_t out_count[3]);
    /* The host refuses programs that need more. Default: the product of the dimensions, at most
     * UINT32_MAX. */
    uint32_t (*max_invocations_per_workgroup)(const vyre_backend *backend);
    /* 0 means unknown; planners then use the largest workgroup. Otherwise workgroups should be a
     * multiple of it. Default: 0. */
    uint32_t (*subgroup_size)(const vyre_backend *backend);
    /* The largest buffer or scratch array. The host refuses runs with a larger one. 0 means not
     * reported, not unlimited: the host then allows 128 MiB. Default: 0. */
    uint64_t (*max_storage_buffer_bytes)(const vyre_backend *backend);

    /* Fills in a zeroed profile; the host adds the values of the slots above. Default:
     * max_native_int_width 32, subgroup shuffle if the backend has subgroup operations, 0
     * elsewhere. */
    void (*device_profile)(const vyre_backend *backend, vyre_profile *out_profile);

    /* Initializes the device. The host calls it before the first compile, run or resident buffer,
     * and again after `try_recover`. It may be called early, to hide start-up cost. Default:
     * nothing. */
    vyre_status (*prepare)(const vyre_backend *backend);
    /* Waits for all submitted work. Default: nothing. */
    vyre_status (*flush)(const vyre_backend *backend);
    /* Releases the device. Afterwards the host only frees runs, destroys pipelines and calls
     * `destroy`. Default: nothing. */
    vyre_status (*shutdown)(const vyre_backend *backend);
    /* Returns whether the device is lost. Default: false. */
    bool (*device_lost)(const vyre_backend *backend);
    /* Opens a lost device again. The host waits until all other calls end, so none may block
     * forever. Earlier resident buffers are gone, and the host only destroys earlier pipelines.
     * Default: UNSUPPORTED. */
    vyre_status (*try_recover)(const vyre_backend *backend);

    /* Frees `state`. This is the last call, after all pipelines are destroyed. Default: nothing. */
    void (*destroy)(const vyre_backend *backend);

    /* Since 1.3. Runs on the caller's memory: one piece for each argument, in declaration order,
     * scalars and `out` buffers included. call->inputs point to the same memory. Buffers are
     * aligned to their elements. Memory that the run writes overlaps no other argument's. After a
     * failure that memory may hold anything. Default: runs `dispatch_borrowed` into other memory,
     * and copies the outputs on success. */
    vyre_status (*dispatch_in_place)(const vyre_backend *backend, const vyre_call *call,
                                     const vyre_output *arguments);

    /* Since 1.3: more of resident buffers. */

    /* Makes a buffer from memory that the caller owns. The memory stays valid until resident_free,
     * which does not free it, or until the device is lost. The backend never writes memory with
     * VYRE_MEMORY_READ_ONLY. If the memory overlaps another buffer, the host frees the new one
     * before any use, unless both are read-only. A backend may refuse memory with UNSUPPORTED.
     * Default: UNSUPPORTED. */
    vyre_status (*resident_import)(const vyre_backend *backend, const vyre_memory *memory,
                                   uint64_t *out_buffer);
    /* Returns the address of a buffer, which never changes. Default: UNSUPPORTED. */
    vyre_status (*resident_address)(const vyre_backend *backend, uint64_t buffer,
                                    vyre_memory *out_memory);
    /* Makes a buffer that shares the memory of a part of another one. The backend orders work on
     * the two as if they were one buffer. `buffer` is never itself a range, and the host frees it
     * after its ranges. Default: UNSUPPORTED; runs then take whole buffers only. */
    vyre_status (*resident_range)(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                  size_t size, uint64_t *out_buffer);
    /* Copies inside the device. The two parts do not overlap. Default: through resident_read and
     * resident_upload, in pieces. */
    vyre_status (*resident_copy)(const vyre_backend *backend, uint64_t to, size_t to_offset,
                                 uint64_t from, size_t from_offset, size_t size);
    /* Repeats a pattern of 1, 2, 4, 8 or 16 bytes; `size` is a multiple of pattern_size. Default:
     * resident_upload of the pattern, in pieces. */
    vyre_status (*resident_fill)(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                 size_t size, const void *pattern, size_t pattern_size);

    /* Since 1.3. Pins host memory, so that the device copies it directly. The memory stays valid
     * until the host calls memory_unpin, which it does before `shutdown` and `try_recover`. The
     * backend sets `out_pin` to a number for memory_unpin, or to 0 if there is nothing to undo. The
     * host calls the slot again for such memory when another device unpins it. Calls of both slots
     * never overlap. They must not write to the log, whose callback may call vyre/memory.h. Default
     * of both slots: they do nothing. */
    vyre_status (*memory_pin)(const vyre_backend *backend, void *memory, size_t size,
                              uint64_t *out_pin);
    /* Undoes memory_pin. After a failure the memory is still pinned. Must succeed on a lost device.
     */
    vyre_status (*memory_unpin)(const vyre_backend *backend, uint64_t pin);
};

#define VYRE_BACKEND_HEAD                                                                          \
    sizeof(vyre_backend_slots), VYRE_ABI, VYRE_BACKEND_MARKER, {                                   \
        0, 0                                                                                       \
    }

/* The slots of a pipeline. call->program is the program it was compiled from. Each slot behaves
 * like the backend's slot of the same name, and its default uses the pipeline's own `dispatch`.
 *
 * If `dispatch` is NULL, all runs use the backend's slots. Asynchronous and timed resident runs
 * always do. call->native is the pipeline then. */
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

    /* Starts a run on resident buffers and returns. Default: the backend's resident_dispatch_timed,
     * and ticket 0, which means done. */
    vyre_status (*enqueue)(const vyre_native *native, const vyre_call *call,
                           const uint64_t *buffers, uint64_t *out_ticket);

    /* Returns the memory it holds, for the limit of the cache. Default: 0. */
    uint64_t (*size_bytes)(const vyre_native *native);

    /* Frees `state`. Default: nothing. */
    void (*destroy)(const vyre_native *native);

    vyre_status (*dispatch_in_place)(const vyre_native *native, const vyre_call *call,
                                     const vyre_output *arguments); /* since 1.3 */
};

#define VYRE_PIPELINE_HEAD                                                                         \
    sizeof(vyre_pipeline_slots), VYRE_ABI, {                                                       \
        0, 0                                                                                       \
    }

/* Registration. All strings and tables must be valid for the life of the process. */

typedef struct vyre_registration {
    const char *id; /* every kind of row starts with the id */
    /* Makes the backend for a device, counted from 0. Fails with a Fix if it cannot run on this
     * machine. `out_backend` is zeroed except for `host`. */
    vyre_status (*create)(const vyre_host *host, uint32_t device, vyre_backend *out_backend);
    /* What the slot `supported_ops` will return, without creating a backend; NULL: unknown. */
    const vyre_op_set *(*supported_ops)(void);
    /* Returns the number of devices. 0 means none or unknown; `create` then says why. NULL: one
     * device. */
    uint32_t (*device_count)(const vyre_host *host);
} vyre_registration;

/* Lower ranks are preferred. A backend without a rank comes last. */
#define VYRE_NO_RANK UINT32_MAX

typedef struct vyre_precedence {
    const char *id;
    uint32_t rank;
} vyre_precedence;

/* Whether the backend runs programs; false means that it only translates them. A backend without an
 * entry does not dispatch. */
typedef struct vyre_capability {
    const char *id;
    bool dispatches;
} vyre_capability;

/* What a plugin or object file registers, and the size of each kind of row. */
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

/* The only symbol that a plugin exports: `vyre_backend_query`. `max_abi` is the host's VYRE_ABI.
 * Returns a bundle with the same major version whose `abi` is not higher, or NULL. */
typedef const vyre_bundle *(*vyre_backend_query_function)(uint32_t max_abi);
#define VYRE_BACKEND_QUERY "vyre_backend_query"

#ifdef __cplusplus
}
#endif

#endif
