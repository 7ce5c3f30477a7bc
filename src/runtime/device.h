/* The inside of a device, and of pipelines.
 *
 *   device.c     opening, capabilities, lifecycle      dispatch.c   runs with data of the host
 *   resident*.c  buffers that stay on the device       pipeline.c   compiling, and the cache of it
 *   sequence.c   programs that run in parts            compile.c    a compiler with a deadline
 *   in_place.c   runs on the caller's memory           memory.c     host memory that is pinned
 */
#ifndef VYRE_RUNTIME_DEVICE_H
#define VYRE_RUNTIME_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include <vyre/pipeline.h>

#include "runtime/plan.h"
#include "runtime/sequence.h"
#include "runtime/slots.h"

enum { VYRE_PIPELINE_BUCKETS = 256 };

/* A resident buffer. A handle is valid while its generation is that of the row. A free row has a
 * generation that no handle has. Roots, which are not ranges, record the users of their memory. */
typedef struct vyre_resident_row {
    uint64_t buffer; /* the backend's number; 0: a range, and the backend has no ranges */
    uint64_t size;
    uint64_t offset;  /* in the root */
    uint64_t address; /* of its first byte; 0 if the backend does not report it */
    uint64_t ticket;  /* roots: of the last work that was enqueued on it */
    uint64_t made_by; /* roots: ticket of the work that wrote it last; 0: that has succeeded */
    void (*release)(void *owner); /* of imported memory; may be NULL */
    void *owner;
    uint32_t generation;
    uint32_t users;        /* roots: calls under way, one that writes or any number that read */
    uint32_t next;         /* in the list of free rows, or of `releasing`; VYRE_NONE at the end */
    uint32_t root, parent; /* rows; a range is a part of `parent`; VYRE_NONE for a root */
    uint32_t children;     /* ranges of it, and imports inside it */
    uint32_t place;        /* VYRE_MEMORY_; 0 if unknown */
    bool live;             /* its handle is valid */
    bool is_kept;          /* it has memory, because it is live or has children */
    bool is_written, is_read_only;
} vyre_resident_row;

enum { VYRE_PIPELINE_ARGUMENTS = 8 }; /* of pipelines that keep a plan */

/* What runs a program: a sequence of parts where the backend has no phases or grid barriers of its
 * own and the program needs them, else the backend, through its executable or its own slots. */
struct vyre_pipeline {
    vyre_device *device;     /* retained while the pipeline is held outside of the cache */
    vyre_program *program;   /* what the backend runs */
    vyre_program *source;    /* as it was given, with messages; NULL if it has none */
    uint32_t messages;       /* the kinds that it has */
    vyre_sequence *sequence; /* NULL: the backend takes the program whole */
    vyre_native *native;     /* its executable then; NULL: runs go through the backend's slots */
    uint32_t epoch;          /* of the device, when it was compiled */
    atomic_uint references;  /* of others than the cache; 0 only in the cache's lock */
    uint64_t hash, bytes;
    bool cached;
    bool is_sized; /* its shared arrays have sizes from arguments: each run is one of another */
    vyre_pipeline *next;          /* in its bucket */
    vyre_pipeline *newer, *older; /* by last use */

    /* The plan of the last run on resident buffers without a config, and its values: a run with the
     * same values uses it again. */
    atomic_bool plan_taken; /* a run uses it or replaces it */
    bool has_plan;
    vyre_plan plan;
    vyre_plan_value plan_values[VYRE_PIPELINE_ARGUMENTS];
};

struct vyre_device {
    atomic_uint references;
    vyre_backend *backend;
    char *name;
    uint32_t track; /* in a trace; 0 if there is none */
    uint64_t owner; /* in handles; no other device of the process has it */
    uint32_t forks; /* vyre_fork_count when it was opened */
    vyre_profile profile;

    atomic_bool shut_down, prepared;
    atomic_uint epoch;          /* grows when the device was recovered */
    atomic_ullong last_ticket;  /* the highest that work was given */
    pthread_rwlock_t calls;     /* write-locked to recover and shut down; taken first of all */
    pthread_mutex_t lifecycle;  /* between those that prepare, recover and shut down */
    vyre_device *next_prepared; /* memory.c: in the list of devices that pin memory */

    pthread_mutex_t residents;
    vyre_resident_row *rows;
    uint32_t row_count, row_capacity, free_row;
    uint32_t releasing; /* rows that are gone, whose `release` is still to be called */
    uint32_t waiting;   /* calls that wait for buffers in use */
    pthread_cond_t given_back;

    pthread_mutex_t pipelines;
    uint32_t abandoned;           /* compiles that go on past their deadline, without a caller */
    pthread_cond_t abandoned_end; /* of one of them */
    vyre_pipeline *buckets[VYRE_PIPELINE_BUCKETS];
    vyre_pipeline *newest, *oldest;
    vyre_cache_counts counts;
    uint64_t cache_limit;
};

/* Makes a device of what a factory made. On failure that is destroyed. */
VYRE_MUST_USE vyre_status vyre_device_open(const vyre_backend *made, const char *id, uint32_t index,
                                           vyre_device **out_device);

/* Whether the device belongs to the process that this one was forked from. Its locks and threads
 * are of no use here: nothing may be asked of it. */
bool vyre_device_is_inherited(const vyre_device *device);
VYRE_MUST_USE vyre_status vyre_device_check_process(const vyre_device *device);

/* Begins a call that uses the backend, its pipelines or buffers: no other thread recovers the
 * device or shuts it down until vyre_device_end. Prepares the backend before the first call. After
 * a failure there is nothing to end. A thread begins one call at a time. */
VYRE_MUST_USE vyre_status vyre_device_begin(vyre_device *device);
void vyre_device_end(vyre_device *device);

/* Waits for work that was enqueued, in a call that has begun. */
VYRE_MUST_USE vyre_status vyre_device_wait_for(vyre_device *device, uint64_t ticket);

/* Adds to a failure where the program ran and whether the device is lost. NULL stays NULL. */
VYRE_MUST_USE vyre_status vyre_device_explain(vyre_device *device, const vyre_program *program,
                                              const vyre_dispatch_config *config,
                                              vyre_status status);

/* Whether a program may run there at all: grade, workgroup sizes. */
VYRE_MUST_USE vyre_status vyre_device_admit(const vyre_device *device, const vyre_program *program,
                                            const vyre_dispatch_config *config);

/* Of one array, where a device does not report how large it may be: what WebGPU and Vulkan have
 * every device take. */
enum { VYRE_UNREPORTED_STORAGE_BYTES = 128 << 20 };

/* The largest one-dimensional workgroup for a device: a multiple of its subgroups where their size
 * is known. */
uint32_t vyre_profile_workgroup(const vyre_profile *profile);

/* Whether the device has the operations and the limits that a program needs whatever its arguments
 * are, before it is compiled. */
VYRE_MUST_USE vyre_status vyre_device_check_program(const vyre_device *device,
                                                    const vyre_program *program);

/* Whether the arrays and workgroups of a run are within the device's limits. */
VYRE_MUST_USE vyre_status vyre_device_check_plan(const vyre_device *device, const vyre_plan *plan);

/* Whether the device is exact enough for a run. */
VYRE_MUST_USE vyre_status vyre_device_check_grade(const vyre_device *device,
                                                  const vyre_dispatch_config *config);

/* "unknown" for a number that is none. */
const char *vyre_grade_name(uint32_t grade);
const char *vyre_timing_name(uint32_t timing_quality);

/* The defaults for NULL. */
const vyre_dispatch_config *vyre_config_or_default(const vyre_dispatch_config *config);

/* Memory for the outputs of a plan. */
VYRE_MUST_USE vyre_status vyre_outputs_make(const vyre_plan *plan, vyre_outputs *out_outputs);

/* The forms of a run on the host's data. */
typedef enum vyre_run_form {
    VYRE_RUN_OWNED,
    VYRE_RUN_BORROWED,
    VYRE_RUN_TIMED,
    VYRE_RUN_INTO
} vyre_run_form;

/* Runs a plan in one of these forms, with outputs of the right sizes. */
VYRE_MUST_USE vyre_status vyre_pipeline_run(vyre_pipeline *pipeline, vyre_run_form form,
                                            const vyre_plan *plan, const vyre_input *inputs,
                                            vyre_output *outputs, vyre_timing *out_timing);

/* vyre_device_begin for a run. Fails if the device was recovered since the pipeline was compiled,
 * or is less exact than the config asks for. */
VYRE_MUST_USE vyre_status vyre_pipeline_begin(const vyre_pipeline *pipeline,
                                              const vyre_dispatch_config *config);

/* vyre_pipeline_begin, and the plan of a run on the host's data. After a failure there is nothing
 * to end. */
VYRE_MUST_USE vyre_status vyre_run_begin(vyre_pipeline *pipeline, vyre_plan *plan,
                                         const vyre_input *inputs, size_t input_count,
                                         const vyre_dispatch_config *config);
void vyre_run_end(vyre_pipeline *pipeline, vyre_plan *plan);

/* The pipeline of a run whose shared arrays get their sizes from its inputs, and the config with
 * the time that is left once it is compiled. */
VYRE_MUST_USE vyre_status vyre_run_fit(vyre_pipeline *pipeline, const vyre_input *inputs,
                                       size_t input_count, const vyre_dispatch_config *config,
                                       vyre_dispatch_config *out_rest,
                                       vyre_pipeline **out_pipeline);

static inline bool vyre_memory_overlaps(const void *left, size_t left_size, const void *right,
                                        size_t right_size) {
    uintptr_t a = (uintptr_t)left, b = (uintptr_t)right;
    return left_size && right_size && (a < b ? b - a < left_size : a - b < right_size);
}

/* Whether memory that a run writes overlaps that of another argument. Returns the two. */
bool vyre_arguments_overlap(const vyre_ir *ir, const vyre_output *arguments, uint32_t *out_written,
                            uint32_t *out_other);

/* What a trace says of a call, except for its status. */
uint64_t vyre_call_input_bytes(const vyre_call *call);
uint64_t vyre_call_output_bytes(const vyre_call *call, const vyre_output *outputs);
#define VYRE_TRACE_CALL(run, results)                                                              \
    .program = (run)->program, .label = (run)->config->label, .call = (run),                       \
    .bytes_in = vyre_call_input_bytes(run), .bytes_out = vyre_call_output_bytes((run), (results))

/* What a config is for the rest of a call that began at `start_ns`: its timeout is what is left.
 * TIMEOUT if nothing is. */
VYRE_MUST_USE vyre_status vyre_config_rest(const vyre_dispatch_config *config, uint64_t start_ns,
                                           const vyre_program *program,
                                           vyre_dispatch_config *out_config);

/* Runs on resident buffers: enqueues the run if `out_ticket` is given, else waits for it and times
 * it. */
VYRE_MUST_USE vyre_status vyre_pipeline_run_resident(vyre_pipeline *pipeline,
                                                     const vyre_binding *bindings, size_t count,
                                                     const vyre_dispatch_config *config,
                                                     vyre_timing *out_timing, uint64_t *out_ticket);

/* Compiles a program that the backend takes whole, with the help of the cache on disk. Fails if the
 * backend does not have an operation of it, or with TIMEOUT at the deadline; 0: none. NULL if the
 * backend compiles nothing. */
VYRE_MUST_USE vyre_status vyre_device_compile_whole(vyre_device *device,
                                                    const vyre_program *program,
                                                    uint64_t deadline_ns, vyre_native **out_native);

/* Makes all handles invalid; with `free` frees the buffers. vyre_residents_release_owners follows,
 * where no lock is held and no call is under way. */
void vyre_residents_forget(vyre_device *device, bool free);
void vyre_residents_release_owners(vyre_device *device);

/* Takes all pipelines out of the cache. */
void vyre_pipelines_forget(vyre_device *device);

#endif
