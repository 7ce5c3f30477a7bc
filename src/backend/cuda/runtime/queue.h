/* Work for threads of the backend: runs that need a host while they go on. A queue takes jobs in
 * the order in which they came; one of a single thread ends them in this order, too, and gives them
 * tickets. Threads start with the first job and end with the queue. */
#ifndef VYRE_CUDA_RUNTIME_QUEUE_H
#define VYRE_CUDA_RUNTIME_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>

#include <vyre/status.h>

enum { CUDA_QUEUE_THREADS = 4 };

typedef enum cuda_job_state { CUDA_JOB_QUEUED, CUDA_JOB_RUNNING, CUDA_JOB_DONE } cuda_job_state;

/* The head of a job; what follows is the owner's. */
typedef struct cuda_job {
    vyre_status (*run)(struct cuda_job *job);
    void (*free)(struct cuda_job *job);
    atomic_uint cancel; /* set: it is to end soon */
    uint64_t ticket;    /* of an enqueued one, which nobody holds; else 0 */
    vyre_status status;
    cuda_job_state state;
    struct cuda_job *next;
} cuda_job;

typedef struct cuda_queue {
    pthread_mutex_t lock;
    pthread_cond_t posted, changed; /* for the threads; for who waits */
    cuda_job *first, *last;
    uint32_t waiting, running; /* jobs */
    uint32_t thread_count, most_threads;
    bool is_closing;
    pthread_t threads[CUDA_QUEUE_THREADS];
    atomic_ullong last_ticket; /* the highest that was given */
    atomic_ullong done_ticket; /* this and all before are over */
    cuda_job *failures;        /* enqueued jobs, the newest first */
    uint32_t failure_count;
} cuda_queue;

void cuda_queue_init(cuda_queue *queue, uint32_t most_threads);
/* Waits for all jobs and ends the threads; it can be used again. */
void cuda_queue_close(cuda_queue *queue);
/* The same, and forgets what went wrong. */
void cuda_queue_deinit(cuda_queue *queue);
/* Waits until all jobs are over. */
void cuda_queue_drain(cuda_queue *queue);

/* Appends a job that somebody holds: cuda_queue_end frees it. */
void cuda_queue_start(cuda_queue *queue, cuda_job *job);
bool cuda_queue_is_ready(cuda_queue *queue, const cuda_job *job);
VYRE_MUST_USE vyre_status cuda_queue_wait(cuda_queue *queue, cuda_job *job);
void cuda_queue_end(cuda_queue *queue, cuda_job *job);

/* Appends a job that is freed when it is over, with a ticket: `next` gives ever larger ones. */
uint64_t cuda_queue_enqueue(cuda_queue *queue, cuda_job *job, uint64_t (*next)(void *user),
                            void *user);
static inline bool cuda_queue_is_done(const cuda_queue *queue, uint64_t ticket) {
    return atomic_load(&queue->done_ticket) >= ticket;
}
static inline bool cuda_queue_has_given(const cuda_queue *queue, uint64_t ticket) {
    return atomic_load(&queue->last_ticket) >= ticket;
}
/* Whether no job waits or runs. */
bool cuda_queue_is_idle(cuda_queue *queue);
/* Waits until it is over, however it went; what went wrong, of the last thousand that failed. */
void cuda_queue_settle(cuda_queue *queue, uint64_t ticket);
VYRE_MUST_USE vyre_status cuda_queue_failure(cuda_queue *queue, uint64_t ticket);

#endif
