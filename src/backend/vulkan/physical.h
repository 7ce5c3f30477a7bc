/* Physical devices: what the drivers of this machine offer, in an order that does not change from
 * one process to the next: discrete GPUs first, software devices last, equal kinds by identity. */
#ifndef VYRE_VULKAN_PHYSICAL_H
#define VYRE_VULKAN_PHYSICAL_H

#include <vyre/status.h>

#include "backend/vulkan/loader.h"

typedef struct vulkan_info {
    VkPhysicalDevice handle;
    VkPhysicalDeviceType type;
    uint32_t api; /* version of Vulkan */
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    char driver[VK_MAX_DRIVER_NAME_SIZE + VK_MAX_DRIVER_INFO_SIZE];
    char version[160];                   /* of the backend on this driver */
    char identity[4 * VK_UUID_SIZE + 2]; /* deviceUUID-driverUUID */
    const char *missing;                 /* a feature that every device must have; NULL: none */

    uint32_t queue_family, timestamp_bits;
    float timestamp_ns; /* of a tick */

    uint32_t most_size[3], most_invocations, most_groups[3];
    uint32_t most_shared_bytes;
    uint32_t push_bytes; /* of push constants, at most as many as are of use */
    uint64_t most_buffer_bytes;
    uint64_t memory_bytes;     /* of the largest heap of its own */
    uint64_t import_alignment; /* of host memory that it can use in place; 0: it cannot */

    uint32_t subgroup_size;                 /* where nothing else is asked for */
    uint32_t least_subgroup, most_subgroup; /* that can be required; both 0: none can */
    uint32_t most_subgroups;                /* of a workgroup with a required size */
    uint32_t subgroup_operations;           /* VK_SUBGROUP_FEATURE_ bits for compute */

    bool portability; /* it lacks a part of Vulkan, and has VK_KHR_portability_subset to say so */
    bool int8, int16, float16, float64;
    bool storage8, storage16; /* access of such elements in memory */
    bool buffer_atomics64, shared_atomics64;
    bool memory_model, memory_model_device;
    bool subgroup_extended, full_subgroups;
    bool rte32, rte64, keep32, keep64, denorm32, denorm64; /* float controls */
    bool independent_rounding, independent_denorms;        /* such modes may differ by width */
} vulkan_info;

/* How many there are; 0 also where the loader cannot be opened. */
uint32_t vulkan_physical_count(void);

/* Whether the usable devices of the last process were all software, and still are. */
bool vulkan_physical_known_software(void);

/* Looks at the device of a number. UNAVAILABLE says what it lacks, NOT_FOUND how many there are. */
VYRE_MUST_USE vyre_status vulkan_physical_find(uint32_t index, const vulkan_instance **out_instance,
                                               vulkan_info *out_info);

/* The same by identity, after a loss: the device may be at another place now. */
VYRE_MUST_USE vyre_status vulkan_physical_find_again(vulkan_info *info);

#endif
