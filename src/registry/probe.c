#include "registry/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "runtime/device.h"

/* The child: a byte says that the function returned. */
static void try_in_child(int report, void (*function)(const void *subject), const void *subject) {
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int standard = 0; nowhere >= 0 && standard <= STDERR_FILENO; standard++) {
        (void)dup2(nowhere, standard);
    }
    function(subject);
    ssize_t written = write(report, "", 1);
    _exit(written == 1 ? 0 : 1);
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

static vyre_status explain(const char *what, bool in_time, bool known, int how) {
    static const char fix[] = "repair it, remove it, or set enabled = false in its manifest";
    if (!in_time) {
        return vyre_status_make(VYRE_STATUS_BACKEND, fix, "%s did not return within %d seconds",
                                what, VYRE_PROBE_SECONDS);
    }
    if (known && WIFSIGNALED(how)) {
        return vyre_status_make(VYRE_STATUS_BACKEND, fix, "%s crashed: signal %d, %s", what,
                                WTERMSIG(how), strsignal(WTERMSIG(how)));
    }
    return vyre_status_make(VYRE_STATUS_BACKEND, fix, "%s ended the process%s", what,
                            known && WEXITSTATUS(how) ? " with an error" : "");
}

vyre_status vyre_probe(const char *what, void (*function)(const void *subject),
                       const void *subject) {
    int ends[2];
    if (pipe(ends) != 0) {
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
    kill(child, in_time ? 0 : SIGKILL);
    pid_t waited;
    do {
        waited = waitpid(child, &how, 0);
    } while (waited < 0 && errno == EINTR);
    close(ends[0]);
    return returned ? VYRE_OK : explain(what, in_time, waited == child, how);
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
