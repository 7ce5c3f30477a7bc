/* A device: what it is, its context and queue while it is in use, and everything in it that
 * somebody holds.
 *
 * All work goes through one queue, in order. So a run starts after those that were submitted before
 * it, and nobody has to say who waits for whom. */
#ifndef VYRE_OPENCL_RUNTIME_DEVICE_H
#define VYRE_OPENCL_RUNTIME_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "backend/opencl/codegen/emit.h"
#include "backend/opencl/runtime/driver.h"
#include "base/vec.h"
#include "pass/correct.h"

typedef struct opencl_info {
    opencl_found found;
    char driver[224];  /* "Portable Computing Language 3.1" */
    char version[288]; /* of the backend, with what translates for it */
    char key[1024];    /* all that code depends on, but for the device's name */
    char options[512]; /* of the compiler */
    opencl_target target;
    uint32_t compute_units;
    uint64_t most_bytes, cache_bytes, memory_bytes;
    uint64_t private_bytes; /* of all private arrays of a workgroup; 0: as many as it likes */
    bool is_cpu;            /* its memory is the host's */
    bool is_pocl;
} opencl_info;

/* A word that tells kernels to end soon. */
typedef struct opencl_stop {
    cl_mem memory;
    atomic_uint *word; /* on the host; NULL where a command has to write it */
    bool is_set;
    struct opencl_stop *next;
} opencl_stop;

/* An enqueued run that is not known to be over yet, and one that failed. */
typedef struct opencl_ticket {
    uint64_t number;
    cl_event event; /* NULL: it was over before it got its ticket */
} opencl_ticket;

typedef struct opencl_failure {
    uint64_t number;
    vyre_status status;
} opencl_failure;

typedef struct opencl_device {
    const opencl_table *cl;
    uint32_t index;
    opencl_info info;

    cl_context context; /* NULL while it is closed */
    cl_command_queue queue;
    cl_command_queue control; /* of commands that may not wait for kernels; NULL on CPUs */
    cl_mem empty;             /* some zeros, in place of arrays without elements */
    atomic_bool is_lost;
    bool is_probed;
    vyre_corrections corrections;

    pthread_mutex_t lock; /* of what follows */
    opencl_stop *stops;
    uint64_t last_ticket, last_done;
    VYRE_VEC(opencl_ticket) tickets; /* the oldest first */
    VYRE_VEC(opencl_failure) failures;
} opencl_device;

/* How many there are; 0 also where the loader cannot be asked. */
uint32_t opencl_device_count(void);

/* Looks at the device of a number; nothing is held of it yet. */
VYRE_MUST_USE vyre_status opencl_device_create(uint32_t index, opencl_device **out_device);
void opencl_device_free(opencl_device *device);

/* Asks the driver what the device has, as opencl_device_create does. */
VYRE_MUST_USE vyre_status opencl_device_look(opencl_device *device);

/* Context and queue. Does nothing if it is open. */
VYRE_MUST_USE vyre_status opencl_device_open(opencl_device *device);
/* Gives everything back; no run is under way. */
void opencl_device_close(opencl_device *device);
/* The same for a device that is lost, then sees whether it can be opened again. */
VYRE_MUST_USE vyre_status opencl_device_reset(opencl_device *device);

/* A status for what the driver answered, or NULL for success. Remembers when the device is lost.
 * The text says what was being done. */
VYRE_MUST_USE vyre_status opencl_check(opencl_device *device, cl_int result, const char *format,
                                       ...) VYRE_PRINTF(3, 4);
/* For work that cannot even be tried; NULL if the device is fine. */
VYRE_MUST_USE vyre_status opencl_check_lost(opencl_device *device);

/* Memory of the device, with the host's as its place where `host` is given. At least some bytes. */
VYRE_MUST_USE vyre_status opencl_memory_make(opencl_device *device, uint64_t bytes, void *host,
                                             cl_mem *out_memory);
void opencl_memory_free(opencl_device *device, cl_mem memory);

/* Fills with zeros, in the order of the queue. */
VYRE_MUST_USE vyre_status opencl_memory_zero(opencl_device *device, cl_mem memory, uint64_t offset,
                                             uint64_t bytes);

#endif
