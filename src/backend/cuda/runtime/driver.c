#include "backend/cuda/runtime/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "backend/cuda/runtime/backend.h"

/* CUDA 11.4: graphs as they are used here, and code for all devices from compute capability 7.0. */
enum { OLDEST = 11040 };

static const char library_name[] = "libcuda.so.1";

/* Written once, by whoever comes first, then read alone. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static cuda_table table;
static bool is_open;
static const char *fix;
static char why_not[320];

/* Finds every function; the name of one that is missing, or NULL. */
static const char *resolve(void *library) {
#define CUDA_RESOLVE(name, entry, parameters)                                                      \
    *(void **)(void *)&table.name = dlsym(library, #entry);                                        \
    if (!table.name) {                                                                             \
        return #entry;                                                                             \
    }
    CUDA_FUNCTIONS(CUDA_RESOLVE)
#undef CUDA_RESOLVE
    return NULL;
}

static void open_once(void) {
    vyre_option_info chosen = vyre_option_describe(VYRE_OPTION_CUDA);
    const char *name = chosen.from_environment ? chosen.text : library_name;
    if (chosen.from_environment && !strcmp(name, "none")) {
        fix = "unset VYRE_CUDA to use the GPU";
        snprintf(why_not, sizeof why_not, "VYRE_CUDA is `none`: no driver is opened");
        return;
    }
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fix = chosen.from_environment ? "set VYRE_CUDA to NVIDIA's libcuda, or unset it"
                                      : "install NVIDIA's driver, which brings libcuda.so.1, or "
                                        "use a machine with an NVIDIA GPU";
        snprintf(why_not, sizeof why_not, "the driver's library `%s` cannot be opened", name);
        return;
    }
    const char *missing = resolve(library);
    if (missing || table.cuDriverGetVersion(&table.version) || table.version < OLDEST) {
        char found[64] = "";
        if (table.version) {
            snprintf(found, sizeof found, ", which is for CUDA %d.%d,", table.version / 1000,
                     table.version % 1000 / 10);
        }
        fix = "install a newer driver: one for CUDA 11.4 or later";
        snprintf(why_not, sizeof why_not, "the driver `%s`%s is too old%s%s", name, found,
                 missing ? ": it lacks " : "", missing ? missing : "");
        return;
    }
    CUresult result = table.cuInit(0);
    if (result) {
        char text[CUDA_ERROR_TEXT_BYTES];
        cuda_error_text(&table, result, text);
        fix = result == CUDA_ERROR_NO_DEVICE
                  ? "plug in an NVIDIA GPU, or make it visible to this process "
                    "(CUDA_VISIBLE_DEVICES, the container's devices)"
                  : "check that `nvidia-smi` works; after a driver update restart the machine";
        snprintf(why_not, sizeof why_not,
                 result == CUDA_ERROR_NO_DEVICE ? "the driver finds no device: %s"
                                                : "the driver does not start: %s",
                 text);
        return;
    }
    is_open = true;
}

vyre_status cuda_driver_open(const cuda_table **out_table) {
    *out_table = &table;
    pthread_once(&once, open_once);
    return is_open ? VYRE_OK
                   : vyre_status_make(VYRE_STATUS_UNAVAILABLE, fix,
                                      "backend `cuda` runs on NVIDIA GPUs, and %s", why_not);
}

void cuda_error_text(const cuda_table *cuda, CUresult result,
                     char out_text[CUDA_ERROR_TEXT_BYTES]) {
    const char *name = NULL, *text = NULL;
    if (cuda->cuGetErrorName(result, &name) || !name) {
        name = "unknown error";
    }
    if (cuda->cuGetErrorString(result, &text) || !text) {
        text = "unknown to the driver";
    }
    snprintf(out_text, CUDA_ERROR_TEXT_BYTES, "%s (%d): %s", name, result, text);
}

bool cuda_error_is_final(CUresult result) {
    static const CUresult final[] = {
        4,                            /* deinitialized */
        46,                           /* device unavailable */
        201,                          /* invalid context */
        214,                          /* memory that cannot be corrected */
        220,                          /* NVLink */
        226,                          /* exec affinity: the context is no more */
        700,                          /* illegal address */
        702,                          /* launch timeout of the system */
        709,                          /* context is destroyed */
        710,                          /* assert */
        714, 715, 716, 717, 718, 719, /* faults of kernels */
        721, 723, 999,
    };
    for (size_t i = 0; i < sizeof final / sizeof *final; i++) {
        if (final[i] == result) {
            return true;
        }
    }
    return false;
}
