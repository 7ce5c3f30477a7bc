/* Peer: Vulkan compute on a CPU device (Mesa lavapipe). Buffers are mapped host-visible memory; the
   dispatches are recorded once, and a run is one submit and a wait. The build says where the SPIR-V
   is. */
#include "bench.h"
#include <stdio.h>
#include <stdlib.h>
#include <vulkan/vulkan.h>

typedef struct {
    int w;
    u32 x, y, arg; /* groups in x and y, push constant */
} Step;
static const Step steps[] = {
    {W_SAXPY, NV / 512, 1, 0},
    {W_DOT, DOT_CHUNKS, 1, 0},
    {W_DOT, 1, 1, 1},
    {W_HIST, 1, 1, 0},
    {W_HIST, HIST_PARTS, 1, 1},
    {W_MATMUL, MM / 64, MM / 64, 0},
    {W_CONV, IMG / 64, IMG, 0},
    {W_MANDEL, MANDEL / 64, MANDEL, 0},
    {W_BLACK, NOPT / 64, 1, 0},
    {W_FNV, NREC / 64, 1, 0},
    {W_CRC, NREC / 64, 1, 0},
    {W_DFA, NCHUNK / 64, 1, 0},
    {W_NBODY, NBODY / 64, 1, 0},
};
enum { NSTEP = sizeof steps / sizeof *steps };

static VkPhysicalDevice phys;
static VkDevice dev;
static VkQueue queue;
static VkCommandBuffer cmd;
static VkFence fence;
static VkBuffer buffer[6];
static u32 family, nbuf;

static void ok(VkResult r, const char *what) {
    if (r)
        fprintf(stderr, "vk: %s: error %d\n", what, r), exit(1);
}
#define INFO(type, tag, ...)                                                                       \
    &(type) {                                                                                      \
        .sType = VK_STRUCTURE_TYPE_##tag, __VA_ARGS__                                              \
    }
#define MAKE(what, tag, result, ...)                                                               \
    ok(vkCreate##what(dev, INFO(Vk##what##CreateInfo, tag##_CREATE_INFO, __VA_ARGS__), 0, result), \
       #what)

static void open_device(void) {
    VkInstance inst;
    VkPhysicalDevice list[8];
    VkPhysicalDeviceProperties prop;
    VkQueueFamilyProperties fam[8];
    u32 n = 8, nf = 8;
    ok(vkCreateInstance(INFO(VkInstanceCreateInfo, INSTANCE_CREATE_INFO,
                             .pApplicationInfo = INFO(VkApplicationInfo, APPLICATION_INFO,
                                                      .apiVersion = VK_API_VERSION_1_1)),
                        0, &inst),
       "instance");
    vkEnumeratePhysicalDevices(inst, &n, list);
    for (u32 i = 0; i < n && !phys; i++) {
        vkGetPhysicalDeviceProperties(list[i], &prop);
        if (prop.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU)
            phys = list[i];
    }
    ok(phys ? 0 : VK_ERROR_DEVICE_LOST, "no CPU device");
    vkGetPhysicalDeviceQueueFamilyProperties(phys, &nf, fam);
    while (!(fam[family].queueFlags & VK_QUEUE_COMPUTE_BIT))
        family++;
    ok(vkCreateDevice(
           phys,
           INFO(VkDeviceCreateInfo, DEVICE_CREATE_INFO, .queueCreateInfoCount = 1,
                .pQueueCreateInfos = INFO(VkDeviceQueueCreateInfo, DEVICE_QUEUE_CREATE_INFO,
                                          .queueFamilyIndex = family, .queueCount = 1,
                                          .pQueuePriorities = (float[]){1})),
           0, &dev),
       "device");
    vkGetDeviceQueue(dev, family, 0, &queue);
}

void *peer_alloc(int i, size_t bytes) {
    const u32 want = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkMemoryRequirements need;
    VkPhysicalDeviceMemoryProperties mp;
    VkDeviceMemory mem;
    void *p;
    u32 t = 0;
    if (!dev)
        open_device();
    MAKE(Buffer, BUFFER, &buffer[i], .size = bytes, .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    vkGetBufferMemoryRequirements(dev, buffer[i], &need);
    vkGetPhysicalDeviceMemoryProperties(phys, &mp);
    while (!(need.memoryTypeBits >> t & 1) || (mp.memoryTypes[t].propertyFlags & want) != want)
        t++;
    ok(vkAllocateMemory(dev,
                        INFO(VkMemoryAllocateInfo, MEMORY_ALLOCATE_INFO,
                             .allocationSize = need.size, .memoryTypeIndex = t),
                        0, &mem),
       "memory");
    ok(vkBindBufferMemory(dev, buffer[i], mem, 0), "bind");
    ok(vkMapMemory(dev, mem, 0, VK_WHOLE_SIZE, 0, &p), "map");
    nbuf = i + 1;
    return p;
}

static void record(int w, VkPipeline pipe, VkPipelineLayout layout, VkDescriptorSet set) {
    VkCommandPool pool;
    MAKE(CommandPool, COMMAND_POOL, &pool, .queueFamilyIndex = family);
    MAKE(Fence, FENCE, &fence, 0);
    ok(vkAllocateCommandBuffers(dev,
                                INFO(VkCommandBufferAllocateInfo, COMMAND_BUFFER_ALLOCATE_INFO,
                                     .commandPool = pool, .commandBufferCount = 1),
                                &cmd),
       "command buffer");
    vkBeginCommandBuffer(cmd, INFO(VkCommandBufferBeginInfo, COMMAND_BUFFER_BEGIN_INFO, 0));
    vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, pipe);
    vkCmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, 0);
    for (int s = 0; s < NSTEP; s++) {
        if (steps[s].w != w)
            continue;
        u32 arg = w == W_DFA ? dfa_accept : steps[s].arg;
        vkCmdPushConstants(cmd, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4, &arg);
        vkCmdDispatch(cmd, steps[s].x, steps[s].y, 1);
        vkCmdPipelineBarrier(
            cmd, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
            INFO(VkMemoryBarrier, MEMORY_BARRIER, .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                 .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                                  VK_ACCESS_HOST_READ_BIT),
            0, 0, 0, 0);
    }
    ok(vkEndCommandBuffer(cmd), "record");
}

int peer_setup(int w) {
    static u32 code[1 << 14];
    char path[4096];
    VkDescriptorSetLayoutBinding bind[6];
    VkDescriptorSetLayout dsl;
    VkPipelineLayout layout;
    VkDescriptorPool pool;
    VkDescriptorSet set;
    VkShaderModule module;
    VkPipeline pipe;
    snprintf(path, sizeof path, SPV "/%s.spv", works[w].name);
    FILE *f = fopen(path, "rb");
    if (!f)
        return 0;
    size_t len = fread(code, 1, sizeof code, f);
    fclose(f);
    for (u32 i = 0; i < nbuf; i++)
        bind[i] = (VkDescriptorSetLayoutBinding){i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                                                 VK_SHADER_STAGE_COMPUTE_BIT, 0};
    MAKE(DescriptorSetLayout, DESCRIPTOR_SET_LAYOUT, &dsl, .bindingCount = nbuf, .pBindings = bind);
    MAKE(PipelineLayout, PIPELINE_LAYOUT, &layout, .setLayoutCount = 1, .pSetLayouts = &dsl,
         .pushConstantRangeCount = 1,
         .pPushConstantRanges = &(VkPushConstantRange){VK_SHADER_STAGE_COMPUTE_BIT, 0, 4});
    MAKE(DescriptorPool, DESCRIPTOR_POOL, &pool, .maxSets = 1, .poolSizeCount = 1,
         .pPoolSizes = &(VkDescriptorPoolSize){VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 6});
    ok(vkAllocateDescriptorSets(dev,
                                INFO(VkDescriptorSetAllocateInfo, DESCRIPTOR_SET_ALLOCATE_INFO,
                                     .descriptorPool = pool, .descriptorSetCount = 1,
                                     .pSetLayouts = &dsl),
                                &set),
       "set");
    for (u32 i = 0; i < nbuf; i++)
        vkUpdateDescriptorSets(
            dev, 1,
            INFO(VkWriteDescriptorSet, WRITE_DESCRIPTOR_SET, .dstSet = set, .dstBinding = i,
                 .descriptorCount = 1, .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                 .pBufferInfo = &(VkDescriptorBufferInfo){buffer[i], 0, VK_WHOLE_SIZE}),
            0, 0);
    double t0 = now_ms();
    MAKE(ShaderModule, SHADER_MODULE, &module, .codeSize = len, .pCode = code);
    ok(vkCreateComputePipelines(
           dev, 0, 1,
           INFO(VkComputePipelineCreateInfo, COMPUTE_PIPELINE_CREATE_INFO, .layout = layout,
                .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                          .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                          .module = module,
                          .pName = "main"}),
           0, &pipe),
       "pipeline");
    compile_ms = now_ms() - t0; /* lavapipe compiles the rest at the first dispatch: see first_ms */
    record(w, pipe, layout, set);
    return 1;
}

void peer_run(int w) {
    (void)w;
    ok(vkResetFences(dev, 1, &fence), "fence");
    ok(vkQueueSubmit(
           queue, 1,
           INFO(VkSubmitInfo, SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &cmd),
           fence),
       "submit");
    ok(vkWaitForFences(dev, 1, &fence, VK_TRUE, UINT64_MAX), "wait");
}
