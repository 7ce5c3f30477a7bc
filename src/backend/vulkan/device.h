/* A device: what it is, the logical device while it is in use, and everything in it that somebody
 * holds.
 *
 * It is created without a logical device: vulkan_device_open makes one before the first work and
 * finds out by a probe what its arithmetic needs; vulkan_device_close gives everything back. All
 * work goes through one queue. A ticket is the value that the queue's timeline semaphore reaches
 * when the work is over, so tickets are over in the order in which they were given. */
#ifndef VYRE_VULKAN_DEVICE_H
#define VYRE_VULKAN_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include <vyre/status.h>

#include "backend/spirv/emit.h"
#include "backend/vulkan/memory.h"
#include "backend/vulkan/physical.h"
#include "pass/correct.h"

typedef struct vulkan_executable vulkan_executable;

enum { VULKAN_MOST_FAILURES = 1000 };

typedef struct vulkan_device {
    const vulkan_instance *instance;
    vulkan_info info;
    VkDevice handle; /* NULL while it is closed */
    vulkan_table vk;
    VkQueue queue;
    VkSemaphore timeline;
    VkPipelineLayout layout; /* of all pipelines */
    atomic_bool is_lost;
    atomic_bool is_abandoned; /* work goes on that nobody can end: nothing of it can be freed */

    spirv_target target;     /* what code may use */
    bool is_probed;          /* what follows is known */
    vyre_corrections needed; /* what its arithmetic does not do */
    uint64_t keep_widths;    /* of subgroups that it has: 1 << log2 of the width */
    char corrections[256];   /* the same for people */
    char driver[sizeof((vulkan_info *)0)->driver + 272]; /* with it */

    pthread_mutex_t submitting;        /* the queue */
    atomic_ullong submitted;           /* the last ticket */
    atomic_ullong completed;           /* the last one that was seen to be over */
    atomic_ullong lost_from, lost_end; /* tickets after the first up to the second were lost */

    vulkan_memory memory;

    pthread_mutex_t lock; /* of what follows */
    struct vulkan_batch *free_batches;
    struct vulkan_batch *first_flying, *last_flying; /* on their way, the oldest first */
    uint32_t flying_count;
    uint64_t failed[VULKAN_MOST_FAILURES]; /* tickets of runs that gave up, the last ones */
    uint32_t failed_count;
    VkPipeline counting;            /* once a program needs it; see counting.h */
    vulkan_executable *executables; /* with code on the device */
    struct vulkan_resident *residents;
} vulkan_device;

/* For tests, which set it before a device is opened: a device is treated as if it had memory of its
 * own, or little of everything, every module is changed before the driver gets it, and calls fail.
 */
typedef struct vulkan_drill {
    bool is_discrete;
    bool is_small; /* few workgroups of a launch, and push constants for an address alone */
    bool forgets;  /* corrections are probed anew, and not stored */
    /* Makes a module compute worse: other words, from vyre_alloc. */
    void (*worsen)(uint32_t **words, size_t *count);
    VkResult (*submit)(void); /* not 0: a submission fails with it */
    uint64_t grace_ns;        /* not 0: how long a run may take to obey a stop */
} vulkan_drill_hooks;
extern vulkan_drill_hooks vulkan_drill;

/* Finds the device of a number. It is opened at once if its arithmetic is not known yet. */
VYRE_MUST_USE vyre_status vulkan_device_create(uint32_t index, vulkan_device **out_device);
void vulkan_device_free(vulkan_device *device);

/* The logical device and its queue. Does nothing if it is open. */
VYRE_MUST_USE vyre_status vulkan_device_open(vulkan_device *device);
/* Gives everything back, and waits for all work before. What executables have there is gone. */
void vulkan_device_close(vulkan_device *device);
/* The same for one that is lost, then opens it again. */
VYRE_MUST_USE vyre_status vulkan_device_reset(vulkan_device *device);

/* A status for what a call gave, or NULL for success. Remembers when the device is lost. The text
 * says what was being done. */
VYRE_MUST_USE vyre_status vulkan_check(vulkan_device *device, VkResult result, const char *format,
                                       ...) VYRE_PRINTF(3, 4);
/* For work that cannot even be tried; NULL if the device is fine. */
VYRE_MUST_USE vyre_status vulkan_check_lost(vulkan_device *device);

#endif
