#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "conform/jobs.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "conform/session.h"

_Static_assert(sizeof(((conform_queue *)0)->failed_at) / sizeof(atomic_uint_fast64_t) ==
                   CONFORM_SEEDED,
               "a place for each suite of seeds");

void conform_queue_init(conform_queue *queue) {
    atomic_init(&queue->next, 0);
    for (size_t i = 0; i < CONFORM_SEEDED; i++) {
        atomic_init(&queue->failed_at[i], UINT64_MAX);
    }
}

bool conform_jobs_is_worker(const conform_session *c) {
    return c->jobs.worker;
}

static vyre_status no_processes(const char *what) {
    return vyre_status_make(VYRE_STATUS_LIMIT, "ask for fewer --jobs",
                            "the processes of --jobs cannot be started: %s: %s", what,
                            strerror(errno));
}

/* The parent may end in between: then nobody is told. */
static void become_worker(conform_jobs *jobs, uint32_t count, int socket, pid_t parent) {
    close(jobs->socket);
    jobs->socket = socket;
    jobs->worker = jobs->count + 1;
    jobs->count = count;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent) {
        _exit(EXIT_FAILURE);
    }
}

vyre_status conform_jobs_start(conform_session *c, uint32_t count) {
    conform_jobs *jobs = &c->jobs;
    pid_t parent = getpid();
    int ends[2];
    jobs->pids = vyre_alloc_zeroed(count, sizeof *jobs->pids);
    if (!jobs->pids) {
        return vyre_no_memory("for the processes of --jobs");
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
        return no_processes("socketpair");
    }
    void *shared =
        mmap(NULL, sizeof *jobs->queue, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        close(ends[0]);
        close(ends[1]);
        return no_processes("mmap");
    }
    jobs->queue = shared;
    conform_queue_init(jobs->queue);
    conform_session_begin(c);
    jobs->socket = ends[0];
    vyre_status status = VYRE_OK;
    while (jobs->count < count && !status) {
        pid_t pid = fork();
        if (!pid) {
            become_worker(jobs, count, ends[1], parent);
            return VYRE_OK;
        }
        if (pid < 0) {
            status = no_processes("fork");
        } else {
            jobs->pids[jobs->count++] = pid;
        }
    }
    close(ends[1]);
    return status;
}

void conform_jobs_end(conform_jobs *jobs) {
    if (jobs->count && !jobs->worker) {
        char how[CONFORM_JOBS_HOW];
        conform_jobs_kill(jobs);
        (void)conform_jobs_wait(jobs, how);
    }
    if (jobs->queue) {
        close(jobs->socket);
        munmap(jobs->queue, sizeof *jobs->queue);
    }
    vyre_free(jobs->pids);
    *jobs = (conform_jobs){0};
}

void conform_jobs_send(const conform_jobs *jobs, conform_message *message, const char *text) {
    size_t size = text ? strlen(text) : 0;
    size = size < CONFORM_MESSAGE_TEXT - 1 ? size : CONFORM_MESSAGE_TEXT - 1;
    message->worker = jobs->worker;
    message->has_text = text;
    memcpy(message->text, text ? text : "", size);
    ssize_t sent;
    do {
        sent = send(jobs->socket, message, offsetof(conform_message, text) + size, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0) {
        _exit(EXIT_FAILURE); /* the parent sees that */
    }
}

void conform_jobs_fail(conform_session *c, vyre_status status) {
    conform_message message = {.kind = CONFORM_MESSAGE_TROUBLE,
                               .code = (uint32_t)vyre_status_code_of(status)};
    conform_jobs_send(&c->jobs, &message, vyre_status_text(status));
    vyre_status_free(status);
}

/* Whether something is there to be received, or nothing more will be. */
static bool wait_until(const conform_jobs *jobs, uint64_t until_ns) {
    struct pollfd one = {.fd = jobs->socket, .events = POLLIN};
    while (true) {
        uint64_t now = vyre_now_ns();
        int ms = now < until_ns ? (int)((until_ns - now) / 1000000 % INT_MAX) + 1 : 0;
        int ready = poll(&one, 1, ms);
        if (ready > 0 || (ready < 0 && errno != EINTR)) {
            return true;
        }
        if (!ready && vyre_now_ns() >= until_ns) {
            return false;
        }
    }
}

bool conform_jobs_receive(const conform_jobs *jobs, uint64_t until_ns, conform_message *out) {
    ssize_t size;
    if (until_ns && !wait_until(jobs, until_ns)) {
        return false;
    }
    do {
        size = recv(jobs->socket, out, sizeof *out - 1, 0);
    } while (size < 0 && errno == EINTR);
    if (size < (ssize_t)offsetof(conform_message, text)) {
        return false;
    }
    out->text[(size_t)size - offsetof(conform_message, text)] = '\0';
    return true;
}

void conform_jobs_kill(conform_jobs *jobs) {
    jobs->is_killed = true;
    for (uint32_t i = 0; i < jobs->count; i++) {
        if (jobs->pids[i]) {
            kill(jobs->pids[i], SIGKILL);
        }
    }
}

vyre_status conform_jobs_trouble(conform_message *message) {
    static const char mark[] = ". Fix: ";
    char *fix = NULL;
    for (char *at = message->text; (at = strstr(at, mark)); at++) {
        fix = at;
    }
    if (fix) {
        *fix = '\0';
        fix += sizeof mark - 1;
    }
    return vyre_status_make((vyre_status_code)message->code, fix ? fix : "ask for fewer --jobs",
                            "%s", message->text);
}

uint32_t conform_jobs_wait(conform_jobs *jobs, char out_how[CONFORM_JOBS_HOW]) {
    uint32_t bad = 0;
    snprintf(out_how, CONFORM_JOBS_HOW, "exit status 0");
    for (uint32_t i = 0; i < jobs->count; i++) {
        int how = 0;
        while (jobs->pids[i] && waitpid(jobs->pids[i], &how, 0) < 0 && errno == EINTR) {
        }
        jobs->pids[i] = 0;
        bool is_ours = jobs->is_killed && WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL;
        if (how && !is_ours && !bad) {
            bad = i + 1;
            snprintf(out_how, CONFORM_JOBS_HOW, WIFSIGNALED(how) ? "signal %d" : "exit status %d",
                     WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
        }
    }
    return bad;
}
