#define _GNU_SOURCE /* pthread_setname_np */

#include "backend/cuda/runtime/queue.h"

#include <signal.h>
#include <string.h>

enum { MOST_FAILURES = 1000 };

void cuda_queue_init(cuda_queue *queue, uint32_t most_threads) {
    memset(queue, 0, sizeof *queue);
    queue->most_threads = most_threads;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->posted, NULL);
    pthread_cond_init(&queue->changed, NULL);
}

static void cut_failures(cuda_queue *queue, uint32_t count) {
    cuda_job **at = &queue->failures;
    for (uint32_t i = 0; i < count && *at; i++) {
        at = &(*at)->next;
    }
    while (*at) {
        cuda_job *next = (*at)->next;
        (*at)->free(*at);
        *at = next;
        queue->failure_count--;
    }
}

/* Runs the job in front. Called and returns in the lock. */
static void run_first(cuda_queue *queue) {
    cuda_job *job = queue->first;
    queue->first = job->next;
    queue->last = queue->first ? queue->last : NULL;
    job->state = CUDA_JOB_RUNNING;
    queue->waiting--;
    queue->running++;
    pthread_mutex_unlock(&queue->lock);
    uint64_t ticket = job->ticket;
    vyre_status status = job->run(job);
    if (ticket && !status) {
        job->free(job);
    }
    pthread_mutex_lock(&queue->lock);
    queue->running--;
    if (status || !ticket) {
        job->status = status;
        job->state = CUDA_JOB_DONE; /* who waits for it may free it, once the lock is free */
    }
    if (ticket) {
        if (status) {
            job->next = queue->failures;
            queue->failures = job;
            queue->failure_count++;
            cut_failures(queue, MOST_FAILURES);
        }
        atomic_store(&queue->done_ticket, ticket);
    }
    pthread_cond_broadcast(&queue->changed);
}

static void *serve(void *argument) {
    cuda_queue *queue = argument;
    pthread_mutex_lock(&queue->lock);
    while (queue->first || !queue->is_closing) {
        if (queue->first) {
            run_first(queue);
        } else {
            pthread_cond_wait(&queue->posted, &queue->lock);
        }
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

/* One more thread, if there may be one; deaf to signals. In the lock. */
static void add_thread(cuda_queue *queue) {
    sigset_t all, before;
    if (queue->thread_count == queue->most_threads ||
        queue->thread_count >= queue->waiting + queue->running) {
        return;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (!pthread_create(&queue->threads[queue->thread_count], NULL, serve, queue)) {
        pthread_setname_np(queue->threads[queue->thread_count++], "vyre-cuda");
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Appends a job. Where the system gives no thread it is run at once. In the lock. */
static void append(cuda_queue *queue, cuda_job *job) {
    *(queue->last ? &queue->last->next : &queue->first) = job;
    queue->last = job;
    queue->waiting++;
    add_thread(queue);
    if (queue->thread_count) {
        pthread_cond_signal(&queue->posted);
    } else {
        while (queue->first) {
            run_first(queue);
        }
    }
}

void cuda_queue_drain(cuda_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    while (queue->first || queue->running) {
        pthread_cond_wait(&queue->changed, &queue->lock);
    }
    pthread_mutex_unlock(&queue->lock);
}

bool cuda_queue_is_idle(cuda_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    bool idle = !queue->first && !queue->running;
    pthread_mutex_unlock(&queue->lock);
    return idle;
}

void cuda_queue_close(cuda_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->is_closing = true;
    uint32_t count = queue->thread_count;
    pthread_cond_broadcast(&queue->posted);
    pthread_mutex_unlock(&queue->lock);
    for (uint32_t i = 0; i < count; i++) {
        pthread_join(queue->threads[i], NULL);
    }
    pthread_mutex_lock(&queue->lock);
    queue->thread_count = 0;
    queue->is_closing = false;
    pthread_mutex_unlock(&queue->lock);
}

void cuda_queue_deinit(cuda_queue *queue) {
    cuda_queue_close(queue);
    cut_failures(queue, 0);
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->posted);
    pthread_cond_destroy(&queue->changed);
}

void cuda_queue_start(cuda_queue *queue, cuda_job *job) {
    pthread_mutex_lock(&queue->lock);
    append(queue, job);
    pthread_mutex_unlock(&queue->lock);
}

bool cuda_queue_is_ready(cuda_queue *queue, const cuda_job *job) {
    pthread_mutex_lock(&queue->lock);
    bool ready = job->state == CUDA_JOB_DONE;
    pthread_mutex_unlock(&queue->lock);
    return ready;
}

vyre_status cuda_queue_wait(cuda_queue *queue, cuda_job *job) {
    pthread_mutex_lock(&queue->lock);
    while (job->state != CUDA_JOB_DONE) {
        pthread_cond_wait(&queue->changed, &queue->lock);
    }
    vyre_status status = job->status;
    job->status = VYRE_OK;
    pthread_mutex_unlock(&queue->lock);
    return status;
}

static void unlink_job(cuda_queue *queue, cuda_job *job) {
    cuda_job *before = NULL;
    for (cuda_job *at = queue->first; at != job; at = at->next) {
        before = at;
    }
    *(before ? &before->next : &queue->first) = job->next;
    queue->last = queue->last == job ? before : queue->last;
    queue->waiting--;
}

void cuda_queue_end(cuda_queue *queue, cuda_job *job) {
    pthread_mutex_lock(&queue->lock);
    if (job->state == CUDA_JOB_QUEUED) {
        unlink_job(queue, job);
        pthread_cond_broadcast(&queue->changed);
    }
    atomic_store(&job->cancel, 1);
    while (job->state == CUDA_JOB_RUNNING) {
        pthread_cond_wait(&queue->changed, &queue->lock);
    }
    pthread_mutex_unlock(&queue->lock);
    job->free(job);
}

uint64_t cuda_queue_enqueue(cuda_queue *queue, cuda_job *job, uint64_t (*next)(void *user),
                            void *user) {
    pthread_mutex_lock(&queue->lock);
    uint64_t ticket = job->ticket = next(user);
    atomic_store(&queue->last_ticket, ticket);
    append(queue, job);
    pthread_mutex_unlock(&queue->lock);
    return ticket;
}

void cuda_queue_settle(cuda_queue *queue, uint64_t ticket) {
    if (cuda_queue_is_done(queue, ticket)) {
        return;
    }
    pthread_mutex_lock(&queue->lock);
    while (!cuda_queue_is_done(queue, ticket)) {
        pthread_cond_wait(&queue->changed, &queue->lock);
    }
    pthread_mutex_unlock(&queue->lock);
}

vyre_status cuda_queue_failure(cuda_queue *queue, uint64_t ticket) {
    vyre_status status = VYRE_OK;
    pthread_mutex_lock(&queue->lock);
    for (const cuda_job *job = queue->failures; job && !status; job = job->next) {
        if (job->ticket == ticket) {
            status =
                vyre_status_make(vyre_status_code_of(job->status), vyre_status_fix(job->status),
                                 "%s", vyre_status_message(job->status));
        }
    }
    pthread_mutex_unlock(&queue->lock);
    return status;
}
