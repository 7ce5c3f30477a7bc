#define _GNU_SOURCE /* clone, memfd_create, __WALL, P_PIDFD */

#include "backend/cpu/runtime/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>

#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/cpu/codegen/llvm_message.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"

/* The program, which the build writes. */
extern const unsigned char cpu_helper_bytes[];
extern const size_t cpu_helper_bytes_size;

/* Descriptors that the child must not overwrite with those it gives the helper. */
enum { FIRST_FREE_FILE = CPU_HELPER_SOCKET + 1 };

static int move_up(int file) {
    if (file < 0 || file >= FIRST_FREE_FILE) {
        return file;
    }
    int moved = fcntl(file, F_DUPFD_CLOEXEC, FIRST_FREE_FILE);
    close(file);
    return moved;
}

/* The program as a file that has no name; -1 and errno. */
static int open_program(void) {
#ifndef MFD_EXEC
#define MFD_EXEC 0x10U
#endif
    int file = memfd_create("vyre-llvm", MFD_CLOEXEC | MFD_EXEC);
    if (file < 0 && errno == EINVAL) { /* before Linux 6.3 */
        file = memfd_create("vyre-llvm", MFD_CLOEXEC);
    }
    file = move_up(file);
    int error =
        file < 0 ? errno : vyre_file_write_open(file, cpu_helper_bytes, cpu_helper_bytes_size);
    if (error && file >= 0) {
        close(file);
    }
    errno = error;
    return error ? -1 : file;
}

/* What children need between clone and exec, when they share the parent's memory. */
typedef struct start {
    int program, socket, nowhere;
    char *const *arguments;
    char *const *environment;
    char *stack; /* for the second child, its upper end */
    int process; /* descriptor of the helper's process */
    int error;   /* of what went wrong first */
} start;

/* The thread sanitizer would take what children do for the parent's own, and its clone() expects
 * children with a memory of their own. */
#ifdef __SANITIZE_THREAD__
#define NOT_INSTRUMENTED __attribute__((no_sanitize_thread))
int __clone(int (*function)(void *), void *stack, int flags, void *argument, ...);
#define clone __clone
#else
#define NOT_INSTRUMENTED
#endif

/* Children call the system by number: what the C library keeps in memory is the parent's. Signals
 * stay blocked until the helper itself admits them. */
NOT_INSTRUMENTED static int become_helper(void *argument) {
    start *s = argument;
    for (int stream = 0; stream < CPU_HELPER_SOCKET; stream++) {
        syscall(SYS_dup3, s->nowhere, stream, 0);
    }
    syscall(SYS_dup3, s->socket, CPU_HELPER_SOCKET, 0);
    syscall(SYS_execveat, s->program, "", s->arguments, s->environment, AT_EMPTY_PATH);
    s->error = errno;
    return 127;
}

/* The first child lives only to be the parent of the second, which is nobody's child then: neither
 * wait() nor SIGCHLD tells the program around us of it. It shares our descriptors, so that the one
 * of the process is ours. */
NOT_INSTRUMENTED static int start_and_leave(void *argument) {
    start *s = argument;
    int flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD;
    if (clone(become_helper, s->stack, flags, s, &s->process) < 0) {
        s->error = errno;
    }
    return 0;
}

static const size_t stack_bytes = 16 << 10;

/* Runs the children until one is the helper. The first has no signal for its end, so that only we
 * can wait for it. */
static int clone_twice(start *s) {
    char *stacks = vyre_alloc(2 * stack_bytes);
    if (!stacks) {
        return ENOMEM;
    }
    char *top = stacks + 2 * stack_bytes - (uintptr_t)stacks % 16;
    s->stack = top - stack_bytes;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t child = clone(start_and_leave, top, CLONE_VM | CLONE_VFORK | CLONE_FILES, s);
    int error = child < 0 ? errno : s->error;
    while (child > 0 && waitpid(child, NULL, __WALL) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    vyre_free(stacks);
    return error;
}

static void close_file(int file) {
    if (file >= 0) {
        close(file);
    }
}

static char *argument(const char *text) {
    return (char *)(uintptr_t)(text ? text : "");
}

int cpu_helper_start(const char *library, const char *llvmlite, cpu_helper *out_helper) {
    char *const arguments[] = {argument("vyre-llvm"), argument(library), argument(llvmlite), NULL};
    int pair[2] = {-1, -1};
    start s = {.program = open_program(),
               .socket = -1,
               .nowhere = -1,
               .arguments = arguments,
               .environment = environ,
               .process = -1};
    int error =
        s.program < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) ? errno : 0;
    int socket = move_up(pair[0]);
    if (!error) {
        s.socket = move_up(pair[1]);
        s.nowhere = move_up(open("/dev/null", O_RDWR | O_CLOEXEC));
        error = socket < 0 || s.socket < 0 || s.nowhere < 0 ? errno : clone_twice(&s);
    }
    if (!error && s.process < 0) { /* before Linux 5.2; it ends with its socket */
        error = ENOSYS;
    }
    close_file(s.program);
    close_file(s.socket);
    close_file(s.nowhere);
    if (error) {
        close_file(socket);
        close_file(s.process);
    }
    *out_helper = (cpu_helper){s.process, socket};
    return error;
}

/* A host that takes in orphans, such as process 1 of a container, is the parent of its helpers by
 * now. Nobody else would take their ends away. */
static void reap(int process) {
    siginfo_t unused;
    (void)waitid(P_PIDFD, (id_t)process, &unused, WEXITED | WNOHANG);
}

void cpu_helper_end(cpu_helper *helper) {
    struct pollfd ended = {helper->process, POLLIN, 0};
    close(helper->socket); /* ends it as well, where signals are refused */
    syscall(SYS_pidfd_send_signal, helper->process, SIGKILL, NULL, 0);
    while (poll(&ended, 1, -1) < 0 && errno == EINTR) {
    }
    reap(helper->process);
    close(helper->process);
}

void cpu_helper_forget(cpu_helper *helper) {
    close(helper->process);
    close(helper->socket);
}

bool cpu_helper_is_alive(const cpu_helper *helper) {
    char byte;
    return recv(helper->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
           (errno == EAGAIN || errno == EWOULDBLOCK);
}

/* Until the helper can go on with `events`. */
static cpu_talk wait_for(const cpu_helper *helper, short events, uint64_t deadline_ns) {
    for (;;) {
        uint64_t now = vyre_now_ns();
        if (now >= deadline_ns) {
            return CPU_TALK_LATE;
        }
        uint64_t left_ms = (deadline_ns - now) / 1000000 + 1;
        struct pollfd one = {helper->socket, events, 0};
        int ready = poll(&one, 1, left_ms < INT_MAX ? (int)left_ms : INT_MAX);
        if (ready > 0) {
            return CPU_TALK_DONE;
        }
        if (ready < 0 && errno != EINTR) {
            return CPU_TALK_LOST;
        }
    }
}

static bool is_to_wait(ssize_t result) {
    return result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

cpu_talk cpu_helper_send(const cpu_helper *helper, const void *data, size_t size,
                         uint64_t deadline_ns) {
    const char *at = data;
    while (size) {
        ssize_t sent = send(helper->socket, at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (is_to_wait(sent)) {
            cpu_talk talk = wait_for(helper, POLLOUT, deadline_ns);
            if (talk != CPU_TALK_DONE) {
                return talk;
            }
        } else if (sent <= 0) {
            return CPU_TALK_LOST;
        } else {
            at += sent;
            size -= (size_t)sent;
        }
    }
    return CPU_TALK_DONE;
}

cpu_talk cpu_helper_receive(const cpu_helper *helper, void *data, size_t size,
                            uint64_t deadline_ns) {
    char *at = data;
    while (size) {
        ssize_t received = recv(helper->socket, at, size, MSG_DONTWAIT);
        if (is_to_wait(received)) {
            cpu_talk talk = wait_for(helper, POLLIN, deadline_ns);
            if (talk != CPU_TALK_DONE) {
                return talk;
            }
        } else if (received <= 0) {
            return CPU_TALK_LOST;
        } else {
            at += received;
            size -= (size_t)received;
        }
    }
    return CPU_TALK_DONE;
}
