#include "runtime/compile.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "base/thread.h"

static vyre_status call(vyre_device *device, const vyre_compile *compile, vyre_native *out_native) {
    return device->backend->slots->compile_native_shared(device->backend, compile, out_native);
}

/* A call on a thread. Freed by the caller, or by the thread if the caller has left. */
typedef struct task {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_done, is_abandoned;
    vyre_device *device;
    vyre_compile compile;
    vyre_native made;
    vyre_status status;
    uint8_t artifact[];
} task;

static task *make_task(vyre_device *device, const vyre_compile *compile) {
    task *t = vyre_alloc(sizeof *t + compile->artifact_size);
    pthread_condattr_t attributes;
    if (!t) {
        return NULL;
    }
    *t = (task){.device = vyre_device_retain(device), .compile = *compile};
    if (compile->artifact) {
        t->compile.artifact = memcpy(t->artifact, compile->artifact, compile->artifact_size);
    }
    vyre_program_retain((vyre_program *)(uintptr_t)compile->program);
    pthread_mutex_init(&t->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&t->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return t;
}

static void free_task(task *t) {
    vyre_program_release((vyre_program *)(uintptr_t)t->compile.program);
    vyre_device_release(t->device);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    vyre_free(t);
}

/* What nobody waits for any more. */
static void drop(task *t) {
    vyre_status_free(t->status);
    if (t->made.slots) {
        vyre_native *adopted = NULL;
        vyre_status_free(vyre_native_adopt(&t->made, t->device->backend, &adopted));
        vyre_native_drop(adopted);
    }
    vyre_free(t->made.artifact);
}

/* A caller that leaves counts its thread, so that nobody recovers the device or shuts it down
 * meanwhile. The thread itself takes no lock on calls: it would wait behind whoever waits for its
 * caller. */
static void count_abandoned(vyre_device *device, bool has_ended) {
    pthread_mutex_lock(&device->pipelines);
    if (has_ended) {
        device->abandoned--;
        pthread_cond_broadcast(&device->abandoned_end);
    } else {
        device->abandoned++;
    }
    pthread_mutex_unlock(&device->pipelines);
}

void vyre_compiles_wait(vyre_device *device) {
    pthread_mutex_lock(&device->pipelines);
    while (device->abandoned) {
        pthread_cond_wait(&device->abandoned_end, &device->pipelines);
    }
    pthread_mutex_unlock(&device->pipelines);
}

static void *run(void *argument) {
    task *t = argument;
    pthread_mutex_lock(&t->lock);
    bool is_wanted = !t->is_abandoned;
    pthread_mutex_unlock(&t->lock);
    if (is_wanted) {
        t->status = call(t->device, &t->compile, &t->made);
    }
    pthread_mutex_lock(&t->lock);
    t->is_done = true;
    bool is_mine = t->is_abandoned;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    if (is_mine) {
        drop(t);
        count_abandoned(t->device, true);
        free_task(t);
    }
    return NULL;
}

/* True if the compiler is done; otherwise the task belongs to the thread. */
static bool wait_until(task *t, uint64_t deadline_ns) {
    const struct timespec until = {(time_t)(deadline_ns / 1000000000),
                                   (long)(deadline_ns % 1000000000)};
    int waited = 0;
    pthread_mutex_lock(&t->lock);
    while (!t->is_done && waited != ETIMEDOUT) {
        waited = pthread_cond_timedwait(&t->changed, &t->lock, &until);
    }
    bool is_done = t->is_done;
    t->is_abandoned = !is_done;
    if (!is_done) {
        count_abandoned(t->device, false);
    }
    pthread_mutex_unlock(&t->lock);
    return is_done;
}

static vyre_status late(const vyre_program *program) {
    return vyre_status_make(VYRE_STATUS_TIMEOUT, "raise the timeout, or make the program smaller",
                            "`%s` took longer to compile than its timeout",
                            vyre_program_name(program));
}

vyre_status vyre_compile_until(vyre_device *device, const vyre_compile *compile,
                               uint64_t deadline_ns, vyre_native *out_native) {
    if (!deadline_ns) {
        return call(device, compile, out_native);
    }
    uint64_t now = vyre_now_ns();
    if (now >= deadline_ns) {
        return late(compile->program);
    }
    vyre_compile limited = *compile;
    limited.timeout_ns = deadline_ns - now;
    task *t = make_task(device, &limited);
    if (!t) {
        return vyre_no_memory("to compile `%s`", vyre_program_name(compile->program));
    }
    if (!vyre_thread_start("vyre-compile", run, t)) {
        free_task(t);
        vyre_log(VYRE_LOG_WARNING,
                 "no thread can be started, so `%s` may compile beyond its timeout",
                 vyre_program_name(compile->program));
        return call(device, &limited, out_native);
    }
    if (!wait_until(t, deadline_ns)) {
        return late(compile->program);
    }
    vyre_status status = t->status;
    *out_native = t->made;
    free_task(t);
    return status;
}
