/* Work that runs later: on its own thread, or when somebody waits for it. Jobs run one at a time in
 * the order in which they were submitted. */
#include <stdlib.h>
#include <string.h>

#include "tests/mock/state.h"

void mock_job_free(mock_job *job) {
    mock *self = job->owner;
    self->host->program_release(job->program);
    self->host->status_free(job->status);
    free(job->inputs);
    free(job->copies);
    free(job->arguments);
    free(job->buffers);
    free(job);
}

static mock_job *make_job(mock *self, const vyre_program *program, const vyre_call *call) {
    mock_job *job = mock_alloc(sizeof *job);
    job->owner = self;
    job->program = (vyre_program *)(uintptr_t)self->host->program_retain(program);
    job->config = *call->config;
    job->config.label = NULL;
    return job;
}

static void execute(mock *self, mock_job *job) {
    bool is_enqueued = job->is_enqueued; /* others may be freed as soon as they are done */
    vyre_status status = mock_enter(self, MOCK_execution, NULL, NULL, NULL);
    if (!status && job->inputs) {
        status = mock_compute(self, job->program, job->inputs, job->input_count, &job->config,
                              job->outputs);
    } else if (!status) {
        status =
            mock_compute_resident(self, job->program, job->arguments, job->buffers, &job->config);
    }
    pthread_mutex_lock(&self->lock);
    self->done = job->ticket;
    job->status = status;
    job->done = true;
    if (status && is_enqueued) {
        mock_failure *grown = realloc(self->failures, (self->failure_count + 1) * sizeof *grown);
        if (!grown) {
            abort();
        }
        self->failures = grown;
        grown[self->failure_count++] = (mock_failure){job->ticket, self->host->status_code(status)};
    }
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    if (is_enqueued) {
        mock_job_free(job);
    }
}

/* The next job up to a ticket; NULL if there is none. Called with `runner` held. */
static mock_job *take(mock *self, uint64_t ticket) {
    pthread_mutex_lock(&self->lock);
    mock_job *job = self->first;
    if (job && job->ticket <= ticket) {
        self->first = job->next;
        self->last = self->first ? self->last : NULL;
        job->started = true;
    } else {
        job = NULL;
    }
    pthread_mutex_unlock(&self->lock);
    return job;
}

static void run_jobs(mock *self, uint64_t ticket) {
    pthread_mutex_lock(&self->runner);
    for (mock_job *job; (job = take(self, ticket)) != NULL;) {
        execute(self, job);
    }
    pthread_mutex_unlock(&self->runner);
}

void *mock_thread(void *argument) {
    mock *self = argument;
    pthread_mutex_lock(&self->lock);
    while (!self->ends) {
        if (self->first) {
            pthread_mutex_unlock(&self->lock);
            run_jobs(self, UINT64_MAX);
            pthread_mutex_lock(&self->lock);
        } else {
            pthread_cond_wait(&self->changed, &self->lock);
        }
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

void mock_drain(mock *self, uint64_t ticket) {
    run_jobs(self, ticket);
}

void mock_run_queue(mock *self) {
    mock_drain(self, UINT64_MAX);
}

/* Takes over the job; returns its ticket. */
static uint64_t submit(mock *self, mock_job *job) {
    pthread_mutex_lock(&self->lock);
    uint64_t ticket = job->ticket = ++self->tickets;
    if (self->last) {
        self->last->next = job;
    } else {
        self->first = job;
    }
    self->last = job;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    if (self->spec.mode == MOCK_RUNS_AT_ONCE) {
        mock_drain(self, ticket);
    }
    return ticket;
}

vyre_status mock_job_enqueue(mock *self, const vyre_program *program, const vyre_call *call,
                             const uint64_t *buffers, uint64_t *out_ticket) {
    mock_job *job = make_job(self, program, call);
    size_t size = call->argument_count * sizeof *buffers;
    job->argument_count = call->argument_count;
    job->arguments = mock_alloc(size);
    job->buffers = mock_alloc(size);
    memcpy(job->arguments, call->arguments, size);
    memcpy(job->buffers, buffers, size);
    job->is_enqueued = true;
    *out_ticket = submit(self, job);
    return NULL;
}

static bool run_is_ready(void *state) {
    mock_job *job = state;
    pthread_mutex_lock(&job->owner->lock);
    bool done = job->done;
    pthread_mutex_unlock(&job->owner->lock);
    return done;
}

static vyre_status run_wait(void *state) {
    mock_job *job = state;
    mock_drain(job->owner, job->ticket);
    vyre_status status = job->status;
    job->status = NULL;
    return status;
}

static void run_free(void *state) {
    mock_job *job = state;
    mock *self = job->owner;
    pthread_mutex_lock(&self->lock);
    if (!job->started) {
        mock_job **link = &self->first;
        mock_job *before = NULL;
        while (*link != job) {
            before = *link;
            link = &before->next;
        }
        *link = job->next;
        self->last = self->last == job ? before : self->last;
    }
    while (job->started && !job->done) {
        pthread_cond_wait(&self->changed, &self->lock);
    }
    self->runs--;
    pthread_mutex_unlock(&self->lock);
    mock_job_free(job);
}

static const vyre_run_slots run_slots = {
    VYRE_RUN_HEAD,
    .is_ready = run_is_ready,
    .wait = run_wait,
    .free = run_free,
};

vyre_status mock_job_start(mock *self, const vyre_call *call, vyre_output *outputs, bool borrowed,
                           vyre_pending_run *out_run) {
    mock_job *job = make_job(self, call->program, call);
    size_t bytes = 0;
    job->outputs = outputs;
    job->input_count = call->input_count;
    job->inputs = mock_alloc(call->input_count * sizeof *job->inputs);
    for (size_t i = 0; i < call->input_count; i++) {
        job->inputs[i] = call->inputs[i];
        bytes += call->inputs[i].size;
    }
    if (borrowed) {
        job->copies = mock_alloc(bytes);
        bytes = 0;
        for (size_t i = 0; i < call->input_count; i++) {
            if (job->inputs[i].size) {
                memcpy(job->copies + bytes, job->inputs[i].data, job->inputs[i].size);
            }
            job->inputs[i].data = job->copies + bytes;
            bytes += job->inputs[i].size;
        }
    }
    *out_run = (vyre_pending_run){&run_slots, job};
    pthread_mutex_lock(&self->lock);
    self->runs++;
    pthread_mutex_unlock(&self->lock);
    submit(self, job);
    return NULL;
}
