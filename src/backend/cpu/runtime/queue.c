#include "backend/cpu/runtime/queue.h"

#include <pthread.h>
#include <string.h>

#include "backend/cpu/runtime/fill.h"
#include "backend/cpu/runtime/memory.h"
#include "backend/cpu/runtime/run.h"
#include "backend/cpu/runtime/watch.h"
#include "base/alloc.h"
#include "base/status.h"
#include "base/thread.h"

typedef enum job_state { QUEUED, RUNNING, DONE } job_state;

typedef struct job {
    cpu_executable *executable;
    const vyre_call *call;
    uint8_t *const *memory; /* of a run on memory by argument; else */
    vyre_output *outputs;
    atomic_uint stop;
    uint64_t ticket;
    vyre_status status;
    job_state state;
    bool is_enqueued; /* nobody holds it: it is freed when it is done, or kept if it failed */
    struct job *next;
} job;

/* A job with copies of all that it needs, which follow. */
typedef struct owned_job {
    job job;
    vyre_call call;
    vyre_dispatch_config config;
    uint8_t *inputs; /* copied bytes of inputs; NULL where they are not copied */
    uint64_t room[];
} owned_job;

enum { MOST_FAILURES = 1000 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t posted = PTHREAD_COND_INITIALIZER;  /* for the queue's thread */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* for who waits: a job is done */
static job *first, *last;
static bool is_busy, has_thread;
static uint64_t last_ticket, last_done;
static job *failures; /* the newest first */
static uint32_t failure_count;

static void before_fork(void) {
    pthread_mutex_lock(&lock);
}

static void after_fork_parent(void) {
    pthread_mutex_unlock(&lock);
}

/* What was under way belongs to the parent. */
static void after_fork_child(void) {
    first = last = NULL;
    is_busy = has_thread = false;
    last_done = last_ticket;
    pthread_cond_init(&posted, NULL);
    pthread_cond_init(&changed, NULL);
    pthread_mutex_unlock(&lock);
}

static void init(void) {
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

static void free_owned(job *j) {
    owned_job *owned = (owned_job *)(void *)j;
    cpu_executable_release(j->executable);
    vyre_status_free(j->status);
    cpu_memory_give(owned->inputs);
    vyre_free(owned);
}

/* Drops failures behind the first `count`; in the lock. */
static void cut_failures(uint32_t count) {
    job **at = &failures;
    for (uint32_t i = 0; i < count && *at; i++) {
        at = &(*at)->next;
    }
    while (*at) {
        job *next = (*at)->next;
        free_owned(*at);
        *at = next;
        failure_count--;
    }
}

/* Runs the job in front. Called and returns in the lock. */
static void run_first(void) {
    job *j = first;
    first = j->next;
    last = first ? last : NULL;
    j->state = RUNNING;
    is_busy = true;
    pthread_mutex_unlock(&lock);
    vyre_status status = j->memory ? cpu_run_resident(j->executable, j->call, j->memory, &j->stop)
                                   : cpu_run_host(j->executable, j->call, j->outputs, &j->stop);
    pthread_mutex_lock(&lock);
    bool is_enqueued = j->is_enqueued;
    j->status = status;
    j->state = DONE; /* who waits for it may free it, once the lock is free */
    last_done = j->ticket;
    is_busy = false;
    if (is_enqueued && status) {
        j->next = failures;
        failures = j;
        failure_count++;
        cut_failures(MOST_FAILURES);
    } else if (is_enqueued) {
        free_owned(j);
    }
    pthread_cond_broadcast(&changed);
    if (first) {
        pthread_cond_signal(&posted);
    }
}

static void *serve(void *argument) {
    (void)argument;
    pthread_mutex_lock(&lock);
    for (;;) {
        if (first && !is_busy) {
            run_first();
        } else {
            pthread_cond_wait(&posted, &lock);
        }
    }
    return NULL;
}

/* Waits in the lock until a run is over, and helps. */
static void settle(uint64_t ticket) {
    while (last_done < ticket) {
        if (first && !is_busy) {
            run_first();
        } else {
            pthread_cond_wait(&changed, &lock);
        }
    }
}

/* Appends a job. Where the system gives no thread, nor will anybody wait, it is run at once. */
static uint64_t submit(job *j, bool is_awaited) {
    pthread_once(&once, init);
    pthread_mutex_lock(&lock);
    uint64_t ticket = j->ticket = ++last_ticket;
    *(last ? &last->next : &first) = j;
    last = j;
    if (!is_awaited) {
        has_thread = has_thread || vyre_thread_start("vyre-queue", serve, NULL);
        if (has_thread) {
            pthread_cond_signal(&posted);
        } else {
            settle(ticket);
        }
    }
    pthread_mutex_unlock(&lock);
    return ticket;
}

static void *copy_list(uint64_t **room, const void *list, size_t bytes) {
    void *to = *room;
    if (bytes) {
        memcpy(to, list, bytes);
    }
    *room += (bytes + 7) / 8;
    return to;
}

static size_t padded(size_t bytes) {
    return (bytes + 7) / 8 * 8;
}

/* Copies the call, without bytes of inputs. */
static vyre_status make_job(cpu_executable *executable, const vyre_call *call,
                            uint8_t *const *memory, owned_job **out_job) {
    size_t arguments = call->argument_count * sizeof *call->arguments;
    size_t sizes = call->size_count * sizeof *call->sizes;
    size_t grids = call->grid_count * sizeof *call->grids;
    size_t inputs = call->input_count * sizeof *call->inputs;
    size_t places = memory ? call->argument_count * sizeof *memory : 0;
    owned_job *owned = vyre_alloc(sizeof *owned + padded(arguments) + padded(sizes) +
                                  padded(grids) + padded(inputs) + padded(places));
    *out_job = owned;
    if (!owned) {
        return vyre_no_memory("to enqueue a run of `%s`", vyre_program_name(executable->program));
    }
    uint64_t *room = owned->room;
    owned->call = *call;
    owned->config = *call->config;
    owned->config.label = NULL;
    owned->inputs = NULL;
    owned->call.config = &owned->config;
    owned->call.arguments = copy_list(&room, call->arguments, arguments);
    owned->call.sizes = copy_list(&room, call->sizes, sizes);
    owned->call.grids = copy_list(&room, call->grids, grids);
    owned->call.inputs = copy_list(&room, call->inputs, inputs);
    owned->job = (job){.executable = cpu_executable_retain(executable), .call = &owned->call};
    if (memory) {
        owned->job.memory = copy_list(&room, memory, places);
    }
    return VYRE_OK;
}

vyre_status cpu_queue_enqueue(cpu_executable *executable, const vyre_call *call,
                              uint8_t *const *memory, uint64_t *out_ticket) {
    owned_job *owned;
    vyre_status status = make_job(executable, call, memory, &owned);
    if (!status) {
        owned->job.is_enqueued = true;
        *out_ticket = submit(&owned->job, false);
    }
    return status;
}

vyre_status cpu_queue_run(cpu_executable *executable, const vyre_call *call,
                          uint8_t *const *memory) {
    job j = {.executable = executable, .call = call, .memory = memory};
    submit(&j, true);
    pthread_mutex_lock(&lock);
    settle(j.ticket);
    pthread_mutex_unlock(&lock);
    return j.status;
}

static bool pending_is_ready(void *state) {
    pthread_mutex_lock(&lock);
    bool done = ((job *)state)->state == DONE;
    pthread_mutex_unlock(&lock);
    return done;
}

static vyre_status pending_wait(void *state) {
    job *j = state;
    pthread_mutex_lock(&lock);
    settle(j->ticket);
    vyre_status status = j->status;
    j->status = VYRE_OK;
    pthread_mutex_unlock(&lock);
    return status;
}

static void unlink_job(job *j) {
    job *before = NULL;
    for (job *at = first; at != j; at = at->next) {
        before = at;
    }
    *(before ? &before->next : &first) = j->next;
    last = last == j ? before : last;
}

static void pending_free(void *state) {
    job *j = state;
    pthread_mutex_lock(&lock);
    if (j->state == QUEUED) {
        unlink_job(j);
        pthread_cond_broadcast(&changed);
    }
    atomic_store(&j->stop, CPU_STOP_CANCEL);
    while (j->state == RUNNING) {
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    free_owned(j);
}

/* Copies the bytes of inputs, each aligned. */
static vyre_status copy_inputs(owned_job *owned, vyre_input *inputs) {
    size_t bytes = 0;
    for (size_t i = 0; i < owned->call.input_count; i++) {
        bytes += (inputs[i].size + CPU_ALIGNMENT - 1) / CPU_ALIGNMENT * CPU_ALIGNMENT;
    }
    uint8_t *next = owned->inputs = cpu_memory_take(bytes);
    if (!next) {
        return vyre_no_memory("to enqueue a run of `%s`",
                              vyre_program_name(owned->job.executable->program));
    }
    for (size_t i = 0; i < owned->call.input_count; i++) {
        cpu_copy(next, inputs[i].data, inputs[i].size);
        inputs[i].data = next;
        next += (inputs[i].size + CPU_ALIGNMENT - 1) / CPU_ALIGNMENT * CPU_ALIGNMENT;
    }
    return VYRE_OK;
}

static const vyre_run_slots pending_slots = {
    VYRE_RUN_HEAD,
    .is_ready = pending_is_ready,
    .wait = pending_wait,
    .free = pending_free,
};

vyre_status cpu_queue_start(cpu_executable *executable, const vyre_call *call, vyre_output *outputs,
                            bool is_borrowed, vyre_pending_run *out_run) {
    owned_job *owned;
    vyre_status status = make_job(executable, call, NULL, &owned);
    if (status) {
        return status;
    }
    owned->job.outputs = outputs;
    if (is_borrowed) {
        status = copy_inputs(owned, (vyre_input *)(uintptr_t)owned->call.inputs); /* our own list */
    }
    if (status) {
        free_owned(&owned->job);
        return status;
    }
    *out_run = (vyre_pending_run){&pending_slots, &owned->job};
    submit(&owned->job, false);
    return VYRE_OK;
}

bool cpu_queue_is_done(uint64_t ticket) {
    pthread_mutex_lock(&lock);
    bool done = last_done >= ticket;
    pthread_mutex_unlock(&lock);
    return done;
}

vyre_status cpu_queue_wait(uint64_t ticket) {
    vyre_status status = VYRE_OK;
    pthread_mutex_lock(&lock);
    settle(ticket);
    for (const job *j = failures; j && !status; j = j->next) {
        if (j->ticket == ticket) {
            status = vyre_status_make(vyre_status_code_of(j->status), vyre_status_fix(j->status),
                                      "%s", vyre_status_message(j->status));
        }
    }
    pthread_mutex_unlock(&lock);
    return status;
}

void cpu_queue_settle(uint64_t ticket) {
    pthread_mutex_lock(&lock);
    settle(ticket);
    pthread_mutex_unlock(&lock);
}

void cpu_queue_flush(void) {
    pthread_mutex_lock(&lock);
    while (first || is_busy) {
        if (!is_busy) {
            run_first();
        } else {
            pthread_cond_wait(&changed, &lock);
        }
    }
    pthread_mutex_unlock(&lock);
}

void cpu_queue_forget(void) {
    pthread_mutex_lock(&lock);
    cut_failures(0);
    pthread_mutex_unlock(&lock);
}
