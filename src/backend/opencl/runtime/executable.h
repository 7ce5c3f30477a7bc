/* A program as it runs on a device: lowered, written as OpenCL C, and built by the device's driver.
 */
#ifndef VYRE_OPENCL_RUNTIME_EXECUTABLE_H
#define VYRE_OPENCL_RUNTIME_EXECUTABLE_H

#include "backend/opencl/runtime/device.h"
#include "base/strbuf.h"

typedef struct opencl_phase {
    opencl_phase_info info;
    cl_kernel kernel, inner; /* inner: NULL without assumptions */
    /* The invocations of a workgroup that both have room for, as the driver says. Some say less
     * than is there: a kernel that was compiled for the workgroups of its phase is launched. */
    size_t room;
    size_t most_threads;  /* of a workgroup, where there is no clause */
    pthread_mutex_t lock; /* from the first argument of a launch to the launch */
} opencl_phase;

/* The code of a program is compiled for most runs, and when it comes to that for others, in any
 * combination. */
enum {
    OPENCL_LARGE = 1,   /* runs whose domains are larger than the program's */
    OPENCL_STOPS = 2,   /* runs with a timeout: its loops look at the stop word */
    OPENCL_VARIANTS = 3 /* such combinations */
};

typedef struct opencl_executable {
    atomic_uint references;
    opencl_device *device;
    vyre_program *program; /* lowered */
    cl_program code;
    opencl_phase *phases;
    uint32_t phase_count;
    uint32_t *overwritten; /* by resource, as vyre_fill_find says */
    bool reads_elements;   /* the host has to read arrays to know what to run */
    size_t text_bytes;

    pthread_mutex_t lock;                                /* of what follows */
    struct opencl_executable *variants[OPENCL_VARIANTS]; /* each from its first run on, or NULL */
} opencl_executable;

/* The lowered program, without what the device does not do. */
VYRE_MUST_USE vyre_status opencl_lower(const vyre_program *program, const opencl_target *target,
                                       const vyre_corrections *corrections, bool own_domain,
                                       vyre_program **out_program);

/* From an artifact, or without one that fits from the program; then `out_artifact` gets one. */
VYRE_MUST_USE vyre_status opencl_executable_make(opencl_device *device, const vyre_program *program,
                                                 const uint8_t *artifact, size_t artifact_size,
                                                 vyre_strbuf *out_artifact,
                                                 opencl_executable **out_executable);
/* The program as it is, without corrections and artifacts: for the probe. */
VYRE_MUST_USE vyre_status opencl_executable_bare(opencl_device *device, const vyre_program *program,
                                                 opencl_executable **out_executable);
/* UNSUPPORTED: the device has no room for the workgroups of a phase. */
VYRE_MUST_USE vyre_status opencl_executable_refuse(const opencl_executable *executable,
                                                   const opencl_phase *phase);
opencl_executable *opencl_executable_retain(opencl_executable *executable);
void opencl_executable_release(opencl_executable *executable);

/* The same program for such runs; the executable keeps it. It is itself if `variant` is 0. */
VYRE_MUST_USE vyre_status opencl_executable_variant(opencl_executable *executable, unsigned variant,
                                                    opencl_executable **out_executable);

#endif
