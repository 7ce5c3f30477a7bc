/* The entry points of Vulkan that are used, and the types of their headers. Nothing is linked: the
 * loader's vkGetInstanceProcAddr finds each of them. */
#ifndef VYRE_VULKAN_TABLE_H
#define VYRE_VULKAN_TABLE_H

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

/* Found without an instance. */
#define VULKAN_GLOBAL_FUNCTIONS(X)                                                                 \
    X(vkEnumerateInstanceVersion)                                                                  \
    X(vkEnumerateInstanceExtensionProperties)                                                      \
    X(vkCreateInstance)

#define VULKAN_INSTANCE_FUNCTIONS(X)                                                               \
    X(vkEnumeratePhysicalDevices)                                                                  \
    X(vkEnumerateDeviceExtensionProperties)                                                        \
    X(vkGetPhysicalDeviceProperties2)                                                              \
    X(vkGetPhysicalDeviceFeatures2)                                                                \
    X(vkGetPhysicalDeviceMemoryProperties)                                                         \
    X(vkGetPhysicalDeviceQueueFamilyProperties)                                                    \
    X(vkCreateDevice)                                                                              \
    X(vkGetDeviceProcAddr)

#define VULKAN_DEVICE_FUNCTIONS(X)                                                                 \
    X(vkDestroyDevice)                                                                             \
    X(vkGetDeviceQueue)                                                                            \
    X(vkDeviceWaitIdle)                                                                            \
    X(vkQueueSubmit)                                                                               \
    X(vkCreateSemaphore)                                                                           \
    X(vkDestroySemaphore)                                                                          \
    X(vkGetSemaphoreCounterValue)                                                                  \
    X(vkWaitSemaphores)                                                                            \
    X(vkCreateBuffer)                                                                              \
    X(vkDestroyBuffer)                                                                             \
    X(vkGetBufferMemoryRequirements)                                                               \
    X(vkGetBufferDeviceAddress)                                                                    \
    X(vkAllocateMemory)                                                                            \
    X(vkFreeMemory)                                                                                \
    X(vkMapMemory)                                                                                 \
    X(vkBindBufferMemory)                                                                          \
    X(vkCreateShaderModule)                                                                        \
    X(vkDestroyShaderModule)                                                                       \
    X(vkCreatePipelineLayout)                                                                      \
    X(vkDestroyPipelineLayout)                                                                     \
    X(vkCreatePipelineCache)                                                                       \
    X(vkDestroyPipelineCache)                                                                      \
    X(vkGetPipelineCacheData)                                                                      \
    X(vkCreateComputePipelines)                                                                    \
    X(vkDestroyPipeline)                                                                           \
    X(vkCreateCommandPool)                                                                         \
    X(vkDestroyCommandPool)                                                                        \
    X(vkResetCommandPool)                                                                          \
    X(vkAllocateCommandBuffers)                                                                    \
    X(vkBeginCommandBuffer)                                                                        \
    X(vkEndCommandBuffer)                                                                          \
    X(vkCreateQueryPool)                                                                           \
    X(vkDestroyQueryPool)                                                                          \
    X(vkGetQueryPoolResults)                                                                       \
    X(vkCmdResetQueryPool)                                                                         \
    X(vkCmdWriteTimestamp)                                                                         \
    X(vkCmdBindPipeline)                                                                           \
    X(vkCmdPushConstants)                                                                          \
    X(vkCmdDispatch)                                                                               \
    X(vkCmdDispatchIndirect)                                                                       \
    X(vkCmdPipelineBarrier)                                                                        \
    X(vkCmdCopyBuffer)                                                                             \
    X(vkCmdFillBuffer)

#define VULKAN_MEMBER(name) PFN_##name name;

/* What the loader and an instance have. */
typedef struct vulkan_instance {
    VkInstance handle;
    uint32_t version; /* of the loader */
    VULKAN_GLOBAL_FUNCTIONS(VULKAN_MEMBER)
    VULKAN_INSTANCE_FUNCTIONS(VULKAN_MEMBER)
} vulkan_instance;

/* What an open device has, without the loader's dispatch between. */
typedef struct vulkan_table {
    VULKAN_DEVICE_FUNCTIONS(VULKAN_MEMBER)
    PFN_vkGetMemoryHostPointerPropertiesEXT vkGetMemoryHostPointerPropertiesEXT; /* or NULL */
} vulkan_table;

#endif
