#define _GNU_SOURCE /* pthread_sigmask */

#include "backend/cuda/runtime/module.h"

#include <signal.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

enum { LOG_BYTES = 4096, IMAGE_ALIGNMENT = 64 };

/* The driver's log, made one line of. */
static void join_lines(char *log) {
    size_t size = strlen(log);
    while (size && (log[size - 1] == '\n' || log[size - 1] == ' ')) {
        log[--size] = '\0';
    }
    for (; *log; log++) {
        *log = *log == '\n' ? ' ' : *log;
    }
}

static vyre_status refuse(cuda_device *device, CUresult result, const char *name, char *log) {
    if (result == CUDA_ERROR_OUT_OF_MEMORY || cuda_error_is_final(result)) {
        return cuda_check(device, result, "compiling `%s`", name);
    }
    char error[CUDA_ERROR_TEXT_BYTES];
    cuda_error_text(device->cuda, result, error);
    join_lines(log);
    return vyre_status_make(VYRE_STATUS_BACKEND,
                            result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION
                                ? "install a newer driver"
                                : "install a newer driver, or run it on another device; `vyre show "
                                  "--stage ptx` shows the code",
                            "the driver cannot compile `%s`: %s%s%s", name, error,
                            log[0] ? ": " : "", log);
}

static vyre_status translate(cuda_device *device, const vyre_strbuf *ptx, const char *name,
                             vyre_strbuf *out_image) {
    const cuda_table *cuda = device->cuda;
    char *log = vyre_alloc_zeroed(LOG_BYTES, 1);
    if (!log) {
        return vyre_no_memory("to compile `%s`", name);
    }
    int options[] = {CU_JIT_TARGET_FROM_CUCONTEXT, CU_JIT_ERROR_LOG_BUFFER,
                     CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {NULL, log, (void *)(uintptr_t)(LOG_BYTES - 1)};
    CUlinkState link = NULL;
    void *image = NULL;
    size_t size = 0;
    CUresult result = cuda->cuLinkCreate(3, options, values, &link);
    if (!result) {
        result = cuda->cuLinkAddData(link, CU_JIT_INPUT_PTX, ptx->data, ptx->size + 1, name, 0,
                                     NULL, NULL);
        result = result ? result : cuda->cuLinkComplete(link, &image, &size);
        if (!result) {
            vyre_strbuf_add(out_image, image, size);
        }
    }
    vyre_status status = result              ? refuse(device, result, name, log)
                         : out_image->failed ? vyre_no_memory("to compile `%s`", name)
                                             : VYRE_OK;
    if (link) {
        vyre_status_free(cuda_check(device, cuda->cuLinkDestroy(link), "closing the compiler"));
    }
    vyre_free(log);
    return status;
}

/* One text in a thread. */
typedef struct job {
    pthread_t thread;
    bool has_thread;
    cuda_device *device;
    const vyre_strbuf *ptx;
    const char *name;
    vyre_strbuf *out_image;
    vyre_status status;
} job;

static void *run_job(void *argument) {
    job *own = argument;
    CUcontext before;
    own->status = cuda_device_enter(own->device, &before);
    if (!own->status) {
        own->status = translate(own->device, own->ptx, own->name, own->out_image);
        cuda_device_leave(own->device, before);
    }
    return NULL;
}

vyre_status cuda_module_translate(cuda_device *device, const vyre_strbuf *texts, uint32_t count,
                                  const char *name, vyre_strbuf *out_images) {
    job *jobs = vyre_alloc_zeroed(count, sizeof *jobs);
    if (!jobs) {
        return vyre_no_memory("to compile `%s`", name);
    }
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the threads are deaf to signals */
    for (uint32_t i = count; i-- > 0;) {         /* the first is the caller's own */
        jobs[i] = (job){.device = device, .ptx = &texts[i], .name = name};
        jobs[i].out_image = &out_images[i];
        jobs[i].has_thread = i && !pthread_create(&jobs[i].thread, NULL, run_job, &jobs[i]);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < count; i++) {
        if (jobs[i].has_thread) {
            pthread_join(jobs[i].thread, NULL);
        } else {
            run_job(&jobs[i]);
        }
        if (status) {
            vyre_status_free(jobs[i].status);
        } else {
            status = jobs[i].status;
        }
    }
    vyre_free(jobs);
    return status;
}

vyre_status cuda_module_load(cuda_device *device, const void *image, size_t size,
                             CUmodule *out_module) {
    uint8_t *copy = NULL;
    *out_module = NULL;
    if ((uintptr_t)image % IMAGE_ALIGNMENT) {
        copy = vyre_alloc(size + IMAGE_ALIGNMENT);
        if (!copy) {
            return vyre_no_memory("to load code of %zu bytes", size);
        }
        uint8_t *aligned =
            copy + (IMAGE_ALIGNMENT - (uintptr_t)copy % IMAGE_ALIGNMENT) % IMAGE_ALIGNMENT;
        image = memcpy(aligned, image, size);
    }
    vyre_status status =
        cuda_check(device, device->cuda->cuModuleLoadData(out_module, image), "loading code");
    vyre_free(copy);
    return status;
}
