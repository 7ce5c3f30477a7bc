/* A backend for tests: it can be told what it is, how it fails and when, and it remembers how it
 * was called. What it runs it really computes, with the reference backend. It refuses grid
 * barriers unless it claims to have them.
 *
 *     mock *m = mock_create(&(mock_spec){.slots = MOCK_RESIDENT | MOCK_COMPILE});
 *     vyre_status status = mock_open(m, &device);
 *     mock_fail(m, MOCK_dispatch, 2, VYRE_FAIL_BACKEND, "what went wrong");  the second call
 *     ...
 *     vyre_device_release(device);
 *     mock_free(m);
 *
 * Without slots it has what is required, `id` and `dispatch`. Any thread may use a mock. Memory of
 * its own comes from the C library, so that an allocator of a test sees the host's alone. After a
 * run it overwrites inputs that it may overwrite, and after a failed one the outputs. */
#ifndef VYRE_TESTS_MOCK_H
#define VYRE_TESTS_MOCK_H

#include <vyre/device.h>

#include "runtime/slots.h"

/* Everything that is counted and can fail: the factory, the slots, and the execution of work that
 * was enqueued or started. */
typedef enum mock_slot {
    MOCK_create,
    MOCK_id,
    MOCK_dispatch,
#define MOCK_ENUM(name) MOCK_##name,
    VYRE_OPTIONAL_SLOTS(MOCK_ENUM)
#undef MOCK_ENUM
#define MOCK_ENUM(name) MOCK_pipeline_##name,
        VYRE_PIPELINE_SLOTS(MOCK_ENUM)
#undef MOCK_ENUM
            MOCK_execution,
    MOCK_SLOT_COUNT
} mock_slot;

#define MOCK_BIT(slot) (UINT64_C(1) << MOCK_##slot)
#define MOCK_RESIDENT                                                                              \
    (MOCK_BIT(resident_allocate) | MOCK_BIT(resident_upload) | MOCK_BIT(resident_read) |           \
     MOCK_BIT(resident_free) | MOCK_BIT(resident_dispatch_timed))
#define MOCK_SHARE                                                                                 \
    (MOCK_BIT(resident_import) | MOCK_BIT(resident_address) | MOCK_BIT(resident_range) |           \
     MOCK_BIT(resident_copy) | MOCK_BIT(resident_fill))
#define MOCK_QUEUE                                                                                 \
    (MOCK_BIT(ticket_done) | MOCK_BIT(ticket_wait) | MOCK_BIT(flush) | MOCK_BIT(pipeline_enqueue))
#define MOCK_COMPILE                                                                               \
    (MOCK_BIT(compile_native) | MOCK_BIT(pipeline_dispatch) | MOCK_BIT(pipeline_destroy))
#define MOCK_ASYNC (MOCK_BIT(dispatch_async) | MOCK_BIT(dispatch_borrowed_async))
#define MOCK_LOSS (MOCK_BIT(device_lost) | MOCK_BIT(try_recover))
#define MOCK_ALL ((UINT64_C(1) << MOCK_SLOT_COUNT) - 1)

/* When work runs that was enqueued or started. */
typedef enum mock_mode {
    MOCK_RUNS_AT_ONCE,
    MOCK_RUNS_AT_WAIT, /* for anything behind it, or mock_run_queue */
    MOCK_RUNS_ON_THREAD
} mock_mode;

/* Zero means the default: an answer is given only by a slot that is there. */
typedef struct mock_spec {
    const char *id; /* default "mock" */
    uint64_t slots; /* MOCK_BIT of each optional one that it has */
    mock_mode mode;
    bool single_phase; /* refuses phases, scratch, repeat, domains from memory, grid barriers */
    bool without_artifact;
    bool null; /* does nothing in any slot, and counts nothing: for benchmarks */
    bool emission_only;
    uint32_t rank; /* default 50 */

    const char *version;    /* default "1" */
    const vyre_op_set *ops; /* default: the core set */
    uint32_t features;
    uint32_t max_workgroup_size[3], max_workgroups[3], max_invocations, subgroup_size;
    uint64_t max_storage_buffer_bytes;
    vyre_profile profile;
    uint64_t pipeline_bytes; /* what a pipeline says it takes */
} mock_spec;

typedef struct mock mock;

mock *mock_create(const mock_spec *spec);
void mock_free(mock *self); /* NULL is allowed; all its devices must be gone */

/* A device, past any registry, and the same numbered. */
VYRE_MUST_USE vyre_status mock_open(mock *self, vyre_device **out_device);
VYRE_MUST_USE vyre_status mock_open_index(mock *self, uint32_t index, vyre_device **out_device);

/* The table that the next device is opened with, to be changed by tests of what a host makes of
 * it, and what the factory makes. */
vyre_backend_slots *mock_table(mock *self);
vyre_backend mock_made(mock *self);

/* For a registry: the bundle lives as long as the mock. At most MOCK_REGISTERED at a time. */
enum { MOCK_REGISTERED = 16 };
const vyre_bundle *mock_bundle(mock *self);

/* The n-th call from now on fails, once, or with all behind it. `text` NULL names the slot. With
 * VYRE_FAIL_DEVICE_LOST the device is lost from then on: everything fails until it recovers. */
void mock_fail(mock *self, mock_slot slot, uint64_t n, uint32_t code, const char *text);
void mock_fail_always(mock *self, mock_slot slot, uint32_t code, const char *text);
void mock_fail_never(mock *self, mock_slot slot);
void mock_delay(mock *self, mock_slot slot, uint64_t ns);
void mock_lose(mock *self);

/* Runs what waits to be run. */
void mock_run_queue(mock *self);

/* What became known of the last call of a slot. Pointers are for comparison: what they point to is
 * gone, but for the program if the test has it. */
enum { MOCK_ARGUMENTS = 8, MOCK_LABEL_BYTES = 64 };
typedef struct mock_record {
    uint64_t number; /* of the call among all calls of the mock, from 1 */
    const vyre_program *program;
    const vyre_input *input_list;
    vyre_input inputs[MOCK_ARGUMENTS];
    uint64_t arguments[MOCK_ARGUMENTS];
    uint64_t buffers[MOCK_ARGUMENTS];
    vyre_output outputs[MOCK_ARGUMENTS];
    size_t input_count, argument_count, output_count, grid_count;
    vyre_grid grid; /* of the first phase */
    vyre_dispatch_config config;
    char label[MOCK_LABEL_BYTES];   /* "" if there was none */
    bool aligned;                   /* all inputs, for any C type */
    uint64_t buffer, size;          /* of resident slots */
    size_t artifact_size;           /* given to a compile */
    bool has_native, native_is_own; /* the call named a pipeline, and one that the mock made */
} mock_record;

uint64_t mock_count(mock *self, mock_slot slot);
mock_record mock_last(mock *self, mock_slot slot);
void mock_forget(mock *self); /* counts and records */
const char *mock_slot_name(mock_slot slot);

/* What lives: resident buffers, pipelines, runs that were started and not freed. */
size_t mock_residents(mock *self);
size_t mock_pipelines(mock *self);
size_t mock_runs(mock *self);
/* Compiles that went without translating, from an artifact. */
uint64_t mock_artifact_uses(mock *self);

#endif
