#define _GNU_SOURCE /* pipe2 */

#include "registry/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "runtime/device.h"

static void leave(void) {
    _exit(EXIT_FAILURE);
}

/* What the host has arranged for its own end must not happen at the end of the child. Handlers run
 * last in, first out, so this one goes before them. */
static void forget_host(void) {
    static const int ends[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        (void)signal(ends[i], SIG_DFL);
    }
    (void)atexit(leave);
}

/* The child: a byte says that the function returned. */
static void try_in_child(int report, void (*function)(const void *subject), const void *subject) {
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int standard = 0; nowhere >= 0 && standard <= STDERR_FILENO; standard++) {
        (void)dup2(nowhere, standard);
    }
    forget_host();
    function(subject);
    ssize_t written = write(report, "", 1);
    _exit(written == 1 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Whether the byte comes in time. Other signals of the process do not cut the time short. */
static bool has_returned(int report, bool *out_in_time) {
    uint64_t end = vyre_now_ns() + VYRE_PROBE_SECONDS * UINT64_C(1000000000);
    struct pollfd wanted = {.fd = report, .events = POLLIN};
    int ready;
    do {
        uint64_t now = vyre_now_ns();
        ready = poll(&wanted, 1, now < end ? (int)((end - now) / 1000000 + 1) : 0);
    } while (ready < 0 && errno == EINTR);
    char byte;
    *out_in_time = ready > 0;
    return ready > 0 && read(report, &byte, 1) == 1;
}

static vyre_status explain(const char *what, bool in_time, bool stayed, bool known, int how) {
    static const char fix[] = "repair it, remove it, or set enabled = false in its manifest";
    if (!in_time) {
        return vyre_status_make(VYRE_STATUS_BACKEND, fix, "%s did not return within %d seconds",
                                what, VYRE_PROBE_SECONDS);
    }
    if (stayed) {
        return vyre_status_make(VYRE_STATUS_BACKEND, fix,
                                "%s closed the files of the process and did not return", what);
    }
    if (known && WIFSIGNALED(how)) {
        return vyre_status_make(VYRE_STATUS_BACKEND, fix, "%s crashed: signal %d, %s", what,
                                WTERMSIG(how), strsignal(WTERMSIG(how)));
    }
    return vyre_status_make(VYRE_STATUS_BACKEND, fix, "%s ended the process", what);
}

static pid_t wait_for(pid_t child, int flags, int *out_how) {
    pid_t waited;
    do {
        waited = waitpid(child, out_how, flags);
    } while (waited < 0 && errno == EINTR);
    return waited;
}

/* Whether a child that has said what it had to, or closed the pipe, ends within a second or so. */
static bool has_ended(pid_t child, pid_t *out_waited, int *out_how) {
    enum { TRIES = 5000, PAUSE_NS = 200000 };
    for (int i = 0; i < TRIES && !(*out_waited = wait_for(child, WNOHANG, out_how)); i++) {
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    return *out_waited;
}

vyre_status vyre_probe(const char *what, void (*function)(const void *subject),
                       const void *subject) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return vyre_status_make(VYRE_STATUS_IO, "raise the open file limit (ulimit -n)",
                                "%s cannot be tried in a process of its own: %s", what,
                                strerror(errno));
    }
    pid_t child = fork();
    if (!child) {
        close(ends[0]);
        try_in_child(ends[1], function, subject);
    }
    close(ends[1]);
    if (child < 0) {
        int error = errno;
        close(ends[0]);
        return vyre_status_make(VYRE_STATUS_UNAVAILABLE, "raise the process limit (ulimit -u)",
                                "%s cannot be tried in a process of its own: %s", what,
                                strerror(error));
    }
    bool in_time, returned = has_returned(ends[0], &in_time);
    int how = 0;
    pid_t waited = 0;
    bool stayed = !in_time || !has_ended(child, &waited, &how);
    if (stayed) {
        kill(child, SIGKILL);
        waited = wait_for(child, 0, &how);
    }
    close(ends[0]);
    return returned ? VYRE_OK : explain(what, in_time, stayed, waited == child, how);
}

typedef struct opening {
    const vyre_registration *registration;
    uint32_t device;
} opening;

static void open_device(const void *subject) {
    const opening *wanted = subject;
    vyre_device *device;
    (void)vyre_registration_device_count(wanted->registration);
    vyre_status_free(vyre_registration_acquire(wanted->registration, wanted->device, &device));
    vyre_device_release(device);
}

vyre_status vyre_registration_probe(const vyre_registration *registration, uint32_t device) {
    const opening wanted = {registration, device};
    vyre_strbuf what = {0};
    vyre_strbuf_printf(&what, "opening device %u of backend `%s`", device, registration->id);
    vyre_status status = what.failed ? vyre_no_memory("to try backend `%s`", registration->id)
                                     : vyre_probe(vyre_strbuf_string(&what), open_device, &wanted);
    vyre_strbuf_free(&what);
    return status;
}
