#include "backend/cpu/runtime/compiler.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <pthread.h>
#include <sys/resource.h>

#include <vyre/registry.h>

#include "backend/cpu/codegen/llvm_message.h"
#include "backend/cpu/codegen/option.h"
#include "backend/cpu/runtime/helper.h"
#include "backend/cpu/runtime/library.h"
#include "backend/cpu/runtime/pool.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"

enum { MOST_HELPERS = 8, CEILING_SECONDS = 120, MEGABYTE = 1 << 20 };
static const uint64_t ceiling_ns = (uint64_t)CEILING_SECONDS * 1000000000u;
static const uint64_t most_answer_bytes = (uint64_t)1 << 30;

static const char report_fix[] =
    "use another backend, and report the program: `vyre show --stage llvm` has what LLVM was given";

/* All helpers, in the lock. */
typedef struct place {
    enum { PLACE_FREE, PLACE_IDLE, PLACE_BUSY } state;
    cpu_helper helper;
} place;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t info_lock = PTHREAD_MUTEX_INITIALIZER; /* taken before the other */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static place places[MOST_HELPERS];
static char note[256];              /* why LLVM runs in this process */
static char offered_path[PATH_MAX]; /* by vyre_llvmlite_set */

static void init_condition(void) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* A helper starts in the lock, too, so that no fork has copies of descriptors that are the
 * helper's. */
static void before_fork(void) {
    pthread_mutex_lock(&info_lock);
    pthread_mutex_lock(&lock);
}

static void after_fork_parent(void) {
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&info_lock);
}

static void after_fork_child(void) {
    for (size_t i = 0; i < MOST_HELPERS; i++) {
        if (places[i].state != PLACE_FREE) {
            cpu_helper_forget(&places[i].helper);
        }
        places[i].state = PLACE_FREE;
    }
    init_condition();
    after_fork_parent();
}

static void init(void) {
    init_condition();
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

/* What VYRE_LLVM names; NULL: the newest. */
static const char *library_name(void) {
    vyre_option_info chosen = vyre_option_describe(VYRE_OPTION_LLVM);
    return chosen.from_environment ? chosen.text : NULL;
}

/* The path of llvmlite's library, NULL if it is unknown. In the lock. */
static const char *llvmlite_in_lock(void) {
    vyre_option_info chosen = vyre_option_describe(VYRE_OPTION_LLVMLITE);
    return chosen.from_environment ? chosen.text : offered_path[0] ? offered_path : NULL;
}

/* The same without the lock, in `out_path`. */
static const char *llvmlite_path(char out_path[PATH_MAX]) {
    pthread_mutex_lock(&lock);
    const char *path = llvmlite_in_lock();
    snprintf(out_path, PATH_MAX, "%s", path ? path : "");
    pthread_mutex_unlock(&lock);
    return out_path[0] ? out_path : NULL;
}

static vyre_status late(uint64_t deadline_ns) {
    return !deadline_ns || vyre_now_ns() < deadline_ns
               ? vyre_status_make(VYRE_STATUS_TIMEOUT, report_fix,
                                  "LLVM has not answered for %d seconds", CEILING_SECONDS)
               : vyre_status_make(VYRE_STATUS_TIMEOUT, "raise the timeout, or make it smaller",
                                  "LLVM was not done when the time was up");
}

static vyre_status out_of_memory(void) {
    return vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "make it smaller, or use another backend",
                            "LLVM needs more memory than it may have, %llu MB",
                            (unsigned long long)(CPU_HELPER_BYTES / MEGABYTE));
}

/* Ends a helper that cannot be used again, in its place. */
static void end_helper(place *at) {
    cpu_helper_end(&at->helper);
    pthread_mutex_lock(&lock);
    at->state = PLACE_FREE;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static vyre_status lost(uint32_t signal) {
    return signal ? vyre_status_make(VYRE_STATUS_BACKEND, report_fix,
                                     "the process that ran LLVM ended by signal %u", signal)
                  : vyre_status_make(VYRE_STATUS_BACKEND, report_fix,
                                     "the process that ran LLVM was killed, or ended by itself");
}

/* Ends the helper, and says why as the talk went. */
static vyre_status give_up(place *at, cpu_talk talk, uint64_t deadline_ns, bool *out_vanished) {
    end_helper(at);
    *out_vanished = talk == CPU_TALK_LOST;
    return talk == CPU_TALK_LATE ? late(deadline_ns) : lost(0);
}

/* Keeps a helper for the next compile. */
static void give_back(place *at) {
    pthread_mutex_lock(&lock);
    at->state = PLACE_IDLE;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

/* The texts of a failure as a status. */
static vyre_status failure(uint32_t code, const vyre_strbuf *texts) {
    const char *message = vyre_strbuf_string(texts), *end = message + texts->size;
    const char *fix = texts->size ? message + strlen(message) + 1 : end;
    return vyre_status_make((vyre_status_code)code, fix < end ? fix : report_fix, "%s", message);
}

/* Reads an answer. A failure that LLVM tells goes to `out_failure`, and the helper goes on. */
static vyre_status read_answer(place *at, uint64_t until_ns, uint64_t deadline_ns, vyre_strbuf *out,
                               vyre_status *out_failure, bool *out_vanished) {
    cpu_answer head;
    cpu_talk talk = cpu_helper_receive(&at->helper, &head, sizeof head, until_ns);
    if (talk == CPU_TALK_DONE && head.size > most_answer_bytes) {
        talk = CPU_TALK_LOST;
    }
    if (talk != CPU_TALK_DONE) {
        return give_up(at, talk, deadline_ns, out_vanished);
    }
    if (head.signal) {
        end_helper(at);
        return head.code == VYRE_STATUS_OUT_OF_MEMORY ? out_of_memory() : lost(head.signal);
    }
    char *data = vyre_alloc(head.size + 1);
    if (!data) {
        end_helper(at);
        return vyre_no_memory("for the code of a program");
    }
    talk = cpu_helper_receive(&at->helper, data, head.size, until_ns);
    if (talk != CPU_TALK_DONE) {
        vyre_free(data);
        return give_up(at, talk, deadline_ns, out_vanished);
    }
    data[head.size] = '\0';
    *out = (vyre_strbuf){.data = data, .size = head.size, .capacity = head.size + 1};
    if (head.code && head.code != CPU_ANSWER_HERE) {
        *out_failure = failure(head.code, out);
        vyre_strbuf_free(out);
    }
    return VYRE_OK;
}

/* The deadline, or the ceiling where that comes first. */
static uint64_t limit(uint64_t deadline_ns) {
    uint64_t ceiling = vyre_now_ns() + ceiling_ns;
    return deadline_ns && deadline_ns < ceiling ? deadline_ns : ceiling;
}

/* Why no helper starts, as the last part of a sentence. */
static void take_note(const char *why) {
    pthread_mutex_lock(&lock);
    bool is_first = !note[0];
    if (is_first) {
        snprintf(note, sizeof note,
                 "LLVM runs in this process, where a crash of it is one of ours, since %s", why);
    }
    pthread_mutex_unlock(&lock);
    if (is_first) {
        vyre_log(VYRE_LOG_WARNING, "cpu: %s", note);
    }
}

/* A helper that has just started: it says that it is there, then what it has opened, in `out_info`.
 * One that did not come as far as to run is NULL in `*at`. */
static vyre_status greet(place **at, uint64_t deadline_ns, vyre_strbuf *out_info) {
    uint64_t until_ns = limit(deadline_ns);
    vyre_status refused = VYRE_OK;
    bool vanished;
    cpu_answer here;
    cpu_talk talk = cpu_helper_receive(&(*at)->helper, &here, sizeof here, until_ns);
    if (talk != CPU_TALK_DONE || here.code != CPU_ANSWER_HERE) {
        end_helper(*at);
        *at = NULL;
        if (talk == CPU_TALK_LATE) {
            return late(deadline_ns);
        }
        take_note("the process for it ends before it begins");
        return VYRE_OK;
    }
    VYRE_TRY(read_answer(*at, until_ns, deadline_ns, out_info, &refused, &vanished));
    if (refused) {
        end_helper(*at);
    }
    return refused;
}

/* In the lock. NULL: all places are busy. `*out_error` is why none could be started. */
static place *find_place(uint32_t most, bool *out_is_new, int *out_error) {
    place *free_place = NULL;
    *out_error = 0;
    for (size_t i = 0; i < most; i++) {
        place *at = &places[i];
        if (at->state == PLACE_IDLE && !cpu_helper_is_alive(&at->helper)) {
            cpu_helper_end(&at->helper);
            at->state = PLACE_FREE;
        }
        if (at->state == PLACE_IDLE) {
            at->state = PLACE_BUSY;
            *out_is_new = false;
            return at;
        }
        free_place = !free_place && at->state == PLACE_FREE ? at : free_place;
    }
    if (free_place) {
        *out_error = cpu_helper_start(library_name(), llvmlite_in_lock(), &free_place->helper);
        free_place->state = *out_error ? PLACE_FREE : PLACE_BUSY;
        *out_is_new = true;
    }
    return free_place;
}

/* Waits until one is free, if need be. False if the deadline comes first. */
static bool wait_for_place(uint32_t most, uint64_t deadline_ns, place **out_place, bool *out_is_new,
                           int *out_error) {
    uint64_t until_ns = deadline_ns ? deadline_ns : UINT64_MAX / 2;
    const struct timespec until = {(time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000)};
    int waited = 0;
    pthread_mutex_lock(&lock);
    while (!(*out_place = find_place(most, out_is_new, out_error)) && waited != ETIMEDOUT) {
        waited = pthread_cond_timedwait(&changed, &lock, &until);
    }
    pthread_mutex_unlock(&lock);
    return *out_place;
}

/* A helper for one compile; NULL where none can be started, and LLVM has to run here. One that is
 * new has told what it opened, in `out_info`, which stays empty otherwise. */
static vyre_status take_helper(uint64_t deadline_ns, place **out_place, vyre_strbuf *out_info) {
    uint32_t threads = 0;
    bool is_new = false;
    int error = 0;
    *out_place = NULL;
    pthread_once(&once, init);
    VYRE_TRY(cpu_pool_size(&threads));
    uint32_t most = threads < MOST_HELPERS ? threads : MOST_HELPERS;
    if (!wait_for_place(most, deadline_ns, out_place, &is_new, &error)) {
        return late(deadline_ns);
    }
    if (!error) {
        return is_new ? greet(out_place, deadline_ns, out_info) : VYRE_OK;
    }
    *out_place = NULL;
    if (error == ENOMEM) {
        return vyre_no_memory("to start the process that LLVM runs in");
    }
    if (error == EMFILE || error == ENFILE) {
        return vyre_status_make(VYRE_STATUS_IO, "close files, or raise the limit: `ulimit -n`",
                                "too many open files to start the process that LLVM runs in");
    }
    char why[128] = "";
    snprintf(why, sizeof why, "the system starts none for it: error %d", error);
    take_note(why);
    return VYRE_OK;
}

/* LLVM in this process has to have room, since it ends the process where it has none. */
static vyre_status check_room(void) {
    struct rlimit space, data;
    bool is_limited = (!getrlimit(RLIMIT_AS, &space) && space.rlim_cur != RLIM_INFINITY) ||
                      (!getrlimit(RLIMIT_DATA, &data) && data.rlim_cur != RLIM_INFINITY);
    return is_limited ? vyre_status_make(
                            VYRE_STATUS_OUT_OF_MEMORY,
                            "let it start processes, or lift the limit: `ulimit -v unlimited`",
                            "backend `cpu` can start no process for LLVM, and the memory of "
                            "this one is limited, which LLVM would not survive")
                      : VYRE_OK;
}

/* Opens libLLVM in this process. */
static vyre_status open_here(cpu_llvm_info *out_info) {
    char path[PATH_MAX];
    VYRE_TRY(check_room());
    const cpu_llvm_search search = {library_name(), llvmlite_path(path), false};
    return cpu_llvm_open(&search, out_info);
}

static vyre_status run_here(const vyre_strbuf *ir, cpu_llvm_form form, int level,
                            vyre_strbuf *out) {
    cpu_llvm_info info;
    cpu_llvm_threads threads;
    VYRE_TRY(open_here(&info));
    VYRE_TRY(cpu_pool_lend(&threads));
    return cpu_llvm_compile(ir, form, level, &threads, out);
}

/* What a helper told when it started, as it is kept and stored: strings with their NULs. */
enum { INFO_FIELDS = 5, INFO_BYTES = 12 << 10 };
static struct {
    char text[INFO_BYTES];
    size_t size;
    bool is_stored;
} kept;
static cpu_llvm_info known; /* its version is NULL while nothing is known */
static struct {
    vyre_status_code code; /* OK while nothing is wrong */
    char message[512], fix[128];
} missing;

static bool split_info(const char *text, size_t size, cpu_llvm_info *out_info) {
    const char *fields[INFO_FIELDS];
    const char *end = text + size;
    for (size_t i = 0; i < INFO_FIELDS; i++) {
        const char *stop = memchr(text, 0, (size_t)(end - text));
        if (!stop) {
            return false;
        }
        fields[i] = text;
        text = stop + 1;
    }
    *out_info = (cpu_llvm_info){fields[0], fields[1], fields[2], fields[3], fields[4]};
    return text == end;
}

/* In the info lock. Keeps it for the process. */
static bool keep_info(const vyre_strbuf *text, bool is_stored) {
    cpu_llvm_info info;
    if (text->size > sizeof kept.text || !split_info(vyre_strbuf_string(text), text->size, &info)) {
        return false;
    }
    memcpy(kept.text, text->data, text->size);
    kept.size = text->size;
    kept.is_stored = is_stored;
    return split_info(kept.text, kept.size, &known);
}

/* Stores what is known, or what a new helper says if that is something else. The helper has work
 * meanwhile, so this takes no time. */
static void store_info(const vyre_strbuf *told) {
    pthread_mutex_lock(&info_lock);
    if (!known.version) {
        keep_info(told, false);
    }
    bool is_news =
        told->size && (told->size != kept.size || memcmp(told->data, kept.text, kept.size) != 0);
    const vyre_strbuf own = {.data = kept.text, .size = kept.size};
    const vyre_strbuf *text = is_news ? told : &own;
    cpu_llvm_info info;
    if ((is_news || !kept.is_stored) && split_info(text->data, text->size, &info)) {
        char path[PATH_MAX];
        cpu_library_remember(library_name(), llvmlite_path(path), info.path, text);
        kept.is_stored = true;
    }
    pthread_mutex_unlock(&info_lock);
}

static vyre_status ask(place *at, const vyre_strbuf *ir, cpu_llvm_form form, int level,
                       uint64_t deadline_ns, const vyre_strbuf *info, vyre_strbuf *out,
                       bool *out_vanished) {
    cpu_request request = {.form = (uint32_t)form, .level = (uint32_t)level, .size = ir->size};
    uint64_t until_ns = limit(deadline_ns);
    vyre_status refused = VYRE_OK;
    vyre_status_free(cpu_pool_size(&request.threads));
    cpu_talk talk = cpu_helper_send(&at->helper, &request, sizeof request, until_ns);
    if (talk == CPU_TALK_DONE) {
        talk = cpu_helper_send(&at->helper, vyre_strbuf_string(ir), ir->size, until_ns);
    }
    if (talk == CPU_TALK_LATE) {
        return give_up(at, talk, deadline_ns, out_vanished);
    }
    store_info(info);
    /* One that is lost may have said why. */
    VYRE_TRY(read_answer(at, until_ns, deadline_ns, out, &refused, out_vanished));
    if (vyre_status_code_of(refused) == VYRE_STATUS_UNSUPPORTED) {
        end_helper(at); /* it does so itself, and nobody is to get it meanwhile */
    } else {
        give_back(at);
    }
    return refused;
}

/* `*out_vanished` says that a helper which had been idle is gone without a word. */
static vyre_status run_once(const vyre_strbuf *ir, cpu_llvm_form form, int level,
                            uint64_t deadline_ns, vyre_strbuf *out, bool *out_vanished) {
    *out_vanished = false;
    place *at;
    vyre_strbuf info = {0};
    vyre_status status = take_helper(deadline_ns, &at, &info);
    bool is_new = info.size;
    if (!status) {
        status = at ? ask(at, ir, form, level, deadline_ns, &info, out, out_vanished)
                    : run_here(ir, form, level, out);
    }
    *out_vanished = *out_vanished && !is_new;
    vyre_strbuf_free(&info);
    return status;
}

vyre_status cpu_compiler_run(const vyre_strbuf *ir, cpu_llvm_form form, uint64_t deadline_ns,
                             vyre_strbuf *out) {
    int level;
    bool vanished;
    VYRE_TRY(vyre_option_choice(VYRE_OPTION_CPU_FEATURES, &level));
    vyre_status status = run_once(ir, form, level, deadline_ns, out, &vanished);
    if (status && vanished) { /* it may have been killed before it had the request */
        vyre_status_free(status);
        status = run_once(ir, form, level, deadline_ns, out, &vanished);
    }
    return status;
}

/* Asks a helper, or opens libLLVM here. In the info lock. Helpers tell it as they start, so one
 * that somebody else has started is of no use. */
static vyre_status find_info(void) {
    place *at;
    vyre_strbuf text = {0};
    vyre_status status = take_helper(0, &at, &text);
    while (!status && at && !text.size) {
        end_helper(at);
        status = take_helper(0, &at, &text);
    }
    if (!status && !at) {
        status = open_here(&known);
    } else if (!status) {
        give_back(at);
        status = keep_info(&text, false)
                     ? VYRE_OK
                     : vyre_internal_error("the helper says what it should not");
    }
    vyre_strbuf_free(&text);
    return status;
}

/* That there is no libLLVM stays so; that there is no memory need not. */
static void keep_failure(vyre_status status) {
    if (vyre_status_code_of(status) == VYRE_STATUS_UNAVAILABLE) {
        missing.code = VYRE_STATUS_UNAVAILABLE;
        snprintf(missing.message, sizeof missing.message, "%s", vyre_status_message(status));
        snprintf(missing.fix, sizeof missing.fix, "%s", vyre_status_fix(status));
    }
}

static vyre_status look_up_info(void) {
    if (known.version) {
        return VYRE_OK;
    }
    if (missing.code) {
        return vyre_status_make(missing.code, missing.fix, "%s", missing.message);
    }
    vyre_strbuf text = {0};
    char path[PATH_MAX];
    bool recalled =
        cpu_library_recall(library_name(), llvmlite_path(path), &text) && keep_info(&text, true);
    vyre_strbuf_free(&text);
    vyre_status status = recalled ? VYRE_OK : find_info();
    keep_failure(status);
    return status;
}

vyre_status cpu_compiler_info(cpu_llvm_info *out_info) {
    int level;
    *out_info = (cpu_llvm_info){0};
    VYRE_TRY(vyre_option_choice(VYRE_OPTION_CPU_FEATURES, &level));
    pthread_once(&once, init);
    pthread_mutex_lock(&info_lock);
    vyre_status status = look_up_info();
    *out_info = known;
    pthread_mutex_unlock(&info_lock);
    return status ? status : cpu_llvm_narrow(level, out_info);
}

vyre_status vyre_llvmlite_set(const char *path) {
    path = path ? path : "";
    if ((*path && *path != '/') || strlen(path) >= sizeof offered_path) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "pass the absolute path of libllvmlite.so",
                                "`%.200s` is no absolute path of llvmlite's library", path);
    }
    pthread_once(&once, init);
    pthread_mutex_lock(&info_lock);
    pthread_mutex_lock(&lock);
    snprintf(offered_path, sizeof offered_path, "%s", path);
    missing.code = VYRE_STATUS_OK; /* there may be one now */
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&info_lock);
    return VYRE_OK;
}

const char *cpu_compiler_describe(void) {
    static char text[PATH_MAX + 512]; /* in the lock; the same from the first call on */
    cpu_llvm_info info;
    const char *why = cpu_compiler_note();
    vyre_status status = cpu_compiler_info(&info);
    bool is_known = !status;
    vyre_status_free(status);
    pthread_mutex_lock(&lock);
    if (is_known && !text[0]) {
        snprintf(text, sizeof text, "%s from %s%s%s", info.version, info.path, why ? "; " : "",
                 why ? why : "");
    }
    pthread_mutex_unlock(&lock);
    return is_known ? text : why;
}

const char *cpu_compiler_note(void) {
    place *at;
    vyre_strbuf info = {0};
    vyre_status status = take_helper(0, &at, &info);
    bool runs = !status && at;
    if (runs) {
        give_back(at);
    }
    vyre_status_free(status);
    vyre_strbuf_free(&info);
    pthread_mutex_lock(&lock);
    const char *text = note[0] && !runs ? note : NULL;
    pthread_mutex_unlock(&lock);
    return text;
}
