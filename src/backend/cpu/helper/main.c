/* The process that LLVM runs in. The library carries it as bytes and starts it:
 *
 *   vyre-llvm LIBRARY LLVMLITE    socket 3 is the library's; LIBRARY is what VYRE_LLVM names, and
 *                                 LLVMLITE where llvmlite's library lies; either may be empty
 *
 * The main thread works, and shares what it does with others. One thread does nothing but wait for
 * the end of the socket: then the library is gone, and nobody needs what LLVM is at. */
#define _GNU_SOURCE /* close_range, POLLRDHUP */

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/cpu/codegen/llvm.h"
#include "backend/cpu/codegen/llvm_message.h"
#include "base/alloc.h"
#include "base/status.h"

/* Ends quietly where the library is gone: nobody is left to be told. */
static void send_all(const void *data, size_t size) {
    const char *at = data;
    while (size) {
        ssize_t sent = send(CPU_HELPER_SOCKET, at, size, MSG_NOSIGNAL);
        if (sent <= 0) {
            _exit(0);
        }
        at += sent;
        size -= (size_t)sent;
    }
}

static void receive_all(void *data, size_t size) {
    char *at = data;
    while (size) {
        ssize_t received = recv(CPU_HELPER_SOCKET, at, size, 0);
        if (received <= 0) {
            _exit(0);
        }
        at += received;
        size -= (size_t)received;
    }
}

static void answer(uint32_t code, const void *data, size_t size) {
    const cpu_answer head = {.code = code, .size = size};
    send_all(&head, sizeof head);
    send_all(data, size);
}

/* Takes the status over. */
static void answer_failure(vyre_status status) {
    const char *message = vyre_status_message(status), *fix = vyre_status_fix(status);
    size_t message_size = strlen(message) + 1, fix_size = strlen(fix) + 1;
    const cpu_answer head = {.code = vyre_status_code_of(status), .size = message_size + fix_size};
    send_all(&head, sizeof head);
    send_all(message, message_size);
    send_all(fix, fix_size);
    vyre_status_free(status);
}

/* Whether the process is near one of its limits. Called in a signal handler. */
static bool is_short_of_memory(void) {
    char text[128];
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (size <= 0) {
        return false;
    }
    uint64_t fields[6] = {0}; /* pages; the first: all, the sixth: data */
    int field = 0;
    for (ssize_t i = 0; i < size && field < 6; i++) {
        bool is_digit = text[i] >= '0' && text[i] <= '9';
        fields[field] = is_digit ? fields[field] * 10 + (uint64_t)(text[i] - '0') : fields[field];
        field += !is_digit;
    }
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct rlimit space = {RLIM_INFINITY, RLIM_INFINITY}, data = {RLIM_INFINITY, RLIM_INFINITY};
    getrlimit(RLIMIT_AS, &space);
    getrlimit(RLIMIT_DATA, &data);
    /* A table that grows asks for twice its size, and fails with the limit two thirds away. */
    return fields[5] * page > data.rlim_cur / 3 ||
           (space.rlim_cur != RLIM_INFINITY &&
            fields[0] * page + (CPU_HELPER_BYTES >> 3) > space.rlim_cur);
}

/* Answers the request with what llvmlite's LLVM wrote before it ended the process. Returns false if
 * the text does not contain `mark`. */
static bool answer_with_words(const char *mark, uint32_t code, const char *says) {
    static const char fix[] = "use another backend, or another version of LLVM: VYRE_LLVM names it";
    static char words[512];
    cpu_llvm_words(words, sizeof words);
    const char *reason = strstr(words, mark);
    if (!reason) {
        return false;
    }
    size_t size = strcspn(reason, "\n");
    const cpu_answer head = {.code = code, .size = strlen(says) + size + 1 + sizeof fix};
    send_all(&head, sizeof head);
    send_all(says, strlen(says));
    send_all(reason, size);
    send_all("", 1);
    send_all(fix, sizeof fix);
    return true;
}

/* LLVM calls exit() on an error that has no handler. */
static void hear_exit(void) {
    answer_with_words("error: ", VYRE_STATUS_BACKEND,
                      "LLVM refuses the code generated for the program: ");
}

/* The end of LLVM, as a rule by abort(). The library is not the parent of this process and sees no
 * reason, so this is where it is told. */
static void hear_end(int number) {
    const cpu_answer head = {
        .code = is_short_of_memory() ? VYRE_STATUS_OUT_OF_MEMORY : VYRE_STATUS_BACKEND,
        .signal = (uint32_t)number,
    };
    if (number == SIGABRT && head.code == VYRE_STATUS_BACKEND &&
        answer_with_words("LLVM ERROR: ", VYRE_STATUS_UNSUPPORTED,
                          "LLVM cannot compile the program: ")) {
        _exit(1);
    }
    send_all(&head, sizeof head);
    _exit(1);
}

static void hear_signals(void) {
    static const int ends[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    struct sigaction action = {.sa_handler = hear_end, .sa_flags = SA_ONSTACK};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        sigaction(ends[i], &action, NULL);
    }
}

/* For a thread that LLVM runs on, which may use up its own stack. */
enum { SIGNAL_STACK_BYTES = 32 << 10 };
static void use_signal_stack(void *bytes) {
    const stack_t own = {.ss_sp = bytes, .ss_size = SIGNAL_STACK_BYTES};
    sigaltstack(&own, NULL);
}

/* Threads that share a request. */
typedef struct shares {
    void (*part)(void *user, uint32_t index);
    void *user;
    uint32_t index;
} shares;

static void *run_share(void *argument) {
    const shares *own = argument;
    char signal_stack[SIGNAL_STACK_BYTES];
    use_signal_stack(signal_stack);
    own->part(own->user, own->index);
    return NULL;
}

enum { MOST_THREADS = 32 };

/* A part that gets no thread runs on the calling one. */
static vyre_status run_parts(void (*part)(void *user, uint32_t index), void *user, uint32_t count) {
    pthread_t threads[MOST_THREADS];
    shares all[MOST_THREADS];
    bool started[MOST_THREADS] = {false};
    for (uint32_t i = 1; i < count; i++) {
        all[i] = (shares){part, user, i};
        started[i] = !pthread_create(&threads[i], NULL, run_share, &all[i]);
    }
    part(user, 0);
    for (uint32_t i = 1; i < count; i++) {
        if (started[i]) {
            pthread_join(threads[i], NULL);
        } else {
            part(user, i);
        }
    }
    return VYRE_OK;
}

/* Reads the IR behind a request, compiles it and answers. */
static void serve(const cpu_request *request) {
    char *text = vyre_alloc(request->size + 1);
    if (!text) {
        answer_failure(vyre_no_memory("for the text of a program"));
        _exit(0);
    }
    receive_all(text, request->size);
    text[request->size] = '\0';
    vyre_strbuf out = {0};
    vyre_strbuf ir = {.data = text, .size = request->size, .capacity = request->size + 1};
    uint32_t count = request->threads < MOST_THREADS ? request->threads : MOST_THREADS;
    const cpu_llvm_threads threads = {count ? count : 1, run_parts};
    vyre_status status =
        cpu_llvm_compile(&ir, (cpu_llvm_form)request->form, (int)request->level, &threads, &out);
    vyre_strbuf_free(&ir);
    /* It may have been left by a jump out of LLVM, which is in no state to go on. */
    bool is_spent = vyre_status_code_of(status) == VYRE_STATUS_UNSUPPORTED;
    if (status) {
        answer_failure(status);
    } else {
        answer(0, out.data, out.size);
        vyre_strbuf_free(&out);
    }
    if (is_spent) {
        _exit(0);
    }
}

static void *watch_socket(void *argument) {
    (void)argument;
    struct pollfd end = {CPU_HELPER_SOCKET, POLLRDHUP, 0};
    while (poll(&end, 1, -1) <= 0) {
    }
    _exit(0);
}

static bool start_watching(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 16 * (size_t)PTHREAD_STACK_MIN);
    return !pthread_create(&thread, &attributes, watch_socket, NULL);
}

/* Closes what the program around the library has left open for those it starts. */
static void close_foreign_files(void) {
    DIR *files = close_range(CPU_HELPER_SOCKET + 1, ~0u, 0) ? opendir("/proc/self/fd") : NULL;
    for (struct dirent *entry; files && (entry = readdir(files));) { /* before Linux 5.9 */
        int file = (int)strtol(entry->d_name, NULL, 10);
        if (file > CPU_HELPER_SOCKET && file != dirfd(files)) {
            close(file);
        }
    }
    if (files) {
        closedir(files);
    }
}

/* The library has blocked every signal and may ignore some. Nothing else of it is to be kept. */
static void leave_the_library(void) {
    sigset_t none;
    struct rlimit no_core = {0, 0}, data;
    prctl(PR_SET_NAME, "vyre-llvm");
    setsid(); /* keys that stop or end the program do not reach it */
    close_foreign_files();
    for (int number = 1; number < NSIG; number++) {
        signal(number, SIG_DFL);
    }
    hear_signals();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setrlimit(RLIMIT_CORE, &no_core);
    if (!getrlimit(RLIMIT_DATA, &data) && data.rlim_cur > CPU_HELPER_BYTES) {
        data.rlim_cur = CPU_HELPER_BYTES;
        setrlimit(RLIMIT_DATA, &data);
    }
}

static void answer_info(const cpu_llvm_info *info) {
    const char *const fields[] = {info->version, info->triple, info->cpu, info->features,
                                  info->path};
    cpu_answer head = {0};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        head.size += strlen(fields[i]) + 1;
    }
    send_all(&head, sizeof head);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        send_all(fields[i], strlen(fields[i]) + 1);
    }
}

/* An argument, NULL where it is empty. */
static const char *argument_at(int argc, char **argv, int i) {
    return i < argc && *argv[i] ? argv[i] : NULL;
}

int main(int argc, char **argv) {
    static char signal_stack[SIGNAL_STACK_BYTES];
    leave_the_library();
    answer(CPU_ANSWER_HERE, NULL, 0);
    use_signal_stack(signal_stack);
    cpu_llvm_info info;
    const cpu_llvm_search search = {argument_at(argc, argv, 1), argument_at(argc, argv, 2), true};
    vyre_status status = start_watching() ? cpu_llvm_open(&search, &info)
                                          : vyre_no_memory("for a thread of LLVM's process");
    if (status || chdir("/") != 0) { /* the folder we were started in may go, or its disk */
        answer_failure(status ? status
                              : vyre_internal_error("LLVM's process cannot leave its folder"));
        return 0;
    }
    answer_info(&info);
    atexit(hear_exit);
    for (;;) {
        cpu_request request;
        receive_all(&request, sizeof request);
        serve(&request);
    }
}
