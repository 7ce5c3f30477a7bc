/* Jobs: a run in several processes, for devices whose compilers do one program at a time in each.
 *
 *     status = conform_jobs_start(&c, 8);         before any device is acquired
 *     if (conform_jobs_is_worker(&c)) {
 *         acquire the device, conform_session_run(&c, device) or conform_jobs_fail, _exit
 *     }
 *     acquire the device, conform_session_run(&c, device)
 *     conform_session_deinit(&c);                 ends the workers
 *
 * Drivers do not survive fork(), so each process has a device of its own. Workers take tasks from a
 * counter in shared memory, as threads do, and send what became of each over one socket; the parent
 * takes it all down, and looks into failures itself. A worker ends when its parent does. */
#ifndef VYRE_CONFORM_JOBS_H
#define VYRE_CONFORM_JOBS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include <vyre/status.h>

typedef struct conform_session conform_session;

/* The tasks of a run, which all threads of all processes take in order. */
typedef struct conform_queue {
    atomic_uint_fast64_t next;
    atomic_uint_fast64_t failed_at[2]; /* by suite of seeds: no number behind it is taken */
} conform_queue;

void conform_queue_init(conform_queue *queue);

enum { CONFORM_JOBS_MOST = 256 };

typedef struct conform_jobs {
    conform_queue *queue; /* shared; NULL: one process */
    int socket;           /* to send by in a worker, else to receive by */
    uint32_t count;       /* of workers */
    uint32_t worker;      /* from 1 on; 0: the parent */
    pid_t *pids;          /* of workers; 0: over */
    bool is_killed;       /* the workers were ended on purpose */
} conform_jobs;

/* X(name, what it says) */
#define CONFORM_MESSAGES(X)                                                                        \
    X(TAKEN, "a worker begins with a task")                                                        \
    X(CASE, "what became of a case")                                                               \
    X(SEED, "what became of the program of a seed")                                                \
    X(DONE, "a worker is through with a task")                                                     \
    X(TROUBLE, "what ends it all")

typedef enum conform_message_kind {
#define CONFORM_MESSAGE_ENUM(name, text) CONFORM_MESSAGE_##name,
    CONFORM_MESSAGES(CONFORM_MESSAGE_ENUM)
#undef CONFORM_MESSAGE_ENUM
} conform_message_kind;

enum { CONFORM_MESSAGE_TEXT = 16384 };

typedef struct conform_message {
    conform_message_kind kind;
    uint32_t worker;
    uint64_t task;
    uint64_t number; /* of a case, or of a seed */
    uint32_t code;   /* a fate, a verdict or the code of a status */
    uint32_t instructions;
    uint64_t digest, run;
    double seconds; /* of a task */
    bool has_text;
    char text[CONFORM_MESSAGE_TEXT]; /* what is longer is cut */
} conform_message;

/* Starts the workers; returns in each of them, too. */
VYRE_MUST_USE vyre_status conform_jobs_start(conform_session *c, uint32_t count);
/* Ends those that still run. Nothing for a session without. */
void conform_jobs_end(conform_jobs *jobs);
bool conform_jobs_is_worker(const conform_session *c);

/* From a worker, with a text or NULL; it ends if its parent is gone. */
void conform_jobs_send(const conform_jobs *jobs, conform_message *message, const char *text);
/* Tells the parent what keeps this worker from its work, and frees it. */
void conform_jobs_fail(conform_session *c, vyre_status status);

/* The next message; false when all workers are over, or at a time of vyre_now_ns (0: never). */
bool conform_jobs_receive(const conform_jobs *jobs, uint64_t until_ns, conform_message *out);
/* Ends workers in the middle of what they do. What they sent can still be received. */
void conform_jobs_kill(conform_jobs *jobs);
/* The trouble that a worker told. */
VYRE_MUST_USE vyre_status conform_jobs_trouble(conform_message *message);
/* When all are over: the number of one that did not end as it should, or 0, and how it ended, for 0
 * with exit status 0. Those that were killed ended as they should. */
enum { CONFORM_JOBS_HOW = 40 };
uint32_t conform_jobs_wait(conform_jobs *jobs, char out_how[CONFORM_JOBS_HOW]);

#endif
