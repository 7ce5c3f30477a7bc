/* The inside of a mock. */
#ifndef VYRE_TESTS_MOCK_STATE_H
#define VYRE_TESTS_MOCK_STATE_H

#include <pthread.h>

#include <vyre/dispatch.h>

#include "tests/mock/mock.h"

typedef struct mock_rule {
    uint64_t at; /* how many calls are left until it fails; 0: never */
    bool always;
    uint32_t code;
    const char *text;
    uint64_t delay_ns;
} mock_rule;

/* Work that was enqueued or started. */
typedef struct mock_job {
    struct mock *owner;
    struct mock_job *next;
    uint64_t ticket;
    vyre_program *program;
    vyre_dispatch_config config;
    vyre_input *inputs; /* NULL: runs on resident buffers */
    size_t input_count;
    uint8_t *copies; /* of inputs that were borrowed */
    vyre_output *outputs;
    uint64_t *arguments, *buffers;
    size_t argument_count;
    bool is_enqueued; /* freed once it is done */
    bool started, done;
    vyre_status status;
} mock_job;

typedef struct mock_resident {
    uint8_t *data;
    size_t size;
    bool live, is_borrowed; /* borrowed: the memory is the caller's, or another buffer's */
} mock_resident;

/* What a compile made: it keeps the program, and runs that one. */
typedef struct mock_compiled {
    struct mock *owner;
    struct mock_compiled *next;
    vyre_program *program;
} mock_compiled;

typedef struct mock_failure {
    uint64_t ticket;
    uint32_t code;
} mock_failure;

struct mock {
    mock_spec spec;
    vyre_backend_slots slots;
    vyre_pipeline_slots pipeline_slots;
    const vyre_host *host;

    pthread_mutex_t lock; /* everything below */
    mock_rule rules[MOCK_SLOT_COUNT];
    uint64_t counts[MOCK_SLOT_COUNT];
    mock_record records[MOCK_SLOT_COUNT];
    uint64_t calls;
    bool lost;
    mock_resident *residents; /* a buffer's number is its index and one */
    size_t resident_count;
    mock_compiled *compiled;
    size_t runs;
    uint64_t artifact_uses;

    pthread_mutex_t runner; /* held while a job runs: taken before `lock` */
    pthread_cond_t changed;
    pthread_t thread;
    bool has_thread, ends;
    mock_job *first, *last;
    uint64_t tickets, done;
    mock_failure *failures;
    size_t failure_count;

    size_t place; /* among those that are registered; MOCK_REGISTERED if it is not */
    vyre_registration registration;
    vyre_precedence precedence;
    vyre_capability capability;
    vyre_bundle bundle;
};

/* Counts a call, waits, and says whether it fails. `call` may be NULL; `note` may be NULL and adds
 * to the record. */
vyre_status mock_enter(mock *self, mock_slot slot, const vyre_call *call,
                       const vyre_output *outputs, const mock_record *note);
/* Memory that tests cannot do without. */
void *mock_alloc(size_t size);

/* Runs a program with the reference backend, into memory of the right sizes. */
vyre_status mock_compute(mock *self, const vyre_program *program, const vyre_input *inputs,
                         size_t count, const vyre_dispatch_config *config, vyre_output *outputs);
vyre_status mock_compute_resident(mock *self, const vyre_program *program,
                                  const uint64_t *arguments, const uint64_t *buffers,
                                  const vyre_dispatch_config *config);

/* Of a list that holds it. */
void mock_compiled_free(mock_compiled **link);

/* Jobs. */
vyre_status mock_job_enqueue(mock *self, const vyre_program *program, const vyre_call *call,
                             const uint64_t *buffers, uint64_t *out_ticket);
vyre_status mock_job_start(mock *self, const vyre_call *call, vyre_output *outputs, bool borrowed,
                           vyre_pending_run *out_run);
void mock_job_free(mock_job *job);
/* Returns once everything up to a ticket is done. */
void mock_drain(mock *self, uint64_t ticket);
void *mock_thread(void *self);

/* Tables with every slot. */
void mock_fill_slots(vyre_backend_slots *slots);
void mock_fill_pipeline_slots(vyre_pipeline_slots *slots);
/* Those that do nothing. */
void mock_fill_null(vyre_backend_slots *slots);

#endif
