/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Vulkan for the benchmarks: one device, its functions, queues and commands, and memory and
 * semaphores by raw calls. All objects are kept.
 */
#ifndef BENCH_VK_H
#define BENCH_VK_H

#include <grinterop/vk.h>

#include "bench/bench.h"

/* Vulkan is not linked: the functions are looked up by name, those of the device directly. */
#define BENCH_VK_FUNCTIONS(X)                                                                      \
    X(AllocateCommandBuffers)                                                                      \
    X(AllocateMemory)                                                                              \
    X(BeginCommandBuffer)                                                                          \
    X(BindBufferMemory)                                                                            \
    X(BindImageMemory)                                                                             \
    X(CmdBeginRenderPass)                                                                          \
    X(CmdBindPipeline)                                                                             \
    X(CmdBindVertexBuffers)                                                                        \
    X(CmdCopyBuffer)                                                                               \
    X(CmdCopyImageToBuffer)                                                                        \
    X(CmdDraw)                                                                                     \
    X(CmdEndRenderPass)                                                                            \
    X(CmdPipelineBarrier)                                                                          \
    X(CreateGraphicsPipelines)                                                                     \
    X(DestroyPipeline)                                                                             \
    X(DeviceWaitIdle)                                                                              \
    X(EndCommandBuffer)                                                                            \
    X(FreeMemory)                                                                                  \
    X(GetBufferMemoryRequirements)                                                                 \
    X(GetImageMemoryRequirements)                                                                  \
    X(GetSemaphoreCounterValue)                                                                    \
    X(MapMemory)                                                                                   \
    X(QueueSubmit)                                                                                 \
    X(SignalSemaphore)                                                                             \
    X(WaitSemaphores)
/* The objects that VK_KEEP() creates. */
#define BENCH_VK_OBJECTS(X)                                                                        \
    X(Buffer)                                                                                      \
    X(CommandPool)                                                                                 \
    X(Framebuffer)                                                                                 \
    X(Image)                                                                                       \
    X(ImageView)                                                                                   \
    X(PipelineLayout)                                                                              \
    X(RenderPass)                                                                                  \
    X(Semaphore)                                                                                   \
    X(ShaderModule)
/* NULL if the device has no such extension */
#define BENCH_VK_EXPORTS(X)                                                                        \
    X(GetMemoryFdKHR)                                                                              \
    X(GetSemaphoreFdKHR)

/* VK_NULL_HANDLE: the device has no such queue. */
struct bench_vk_queue {
    VkQueue queue;
    uint32_t family;
    VkCommandPool pool; /* created by the first bench_vk_record() of a scope */
};

enum { BENCH_GRAPHICS, BENCH_COMPUTE, BENCH_TRANSFER, BENCH_QUEUES };

extern struct bench_vk {
    gr_vk_headless *headless;
    gr_vk_device_desc on; /* the device, without a queue */
    bool synchronization2;
    struct bench_vk_queue queues[BENCH_QUEUES];
#define BENCH_VK_MEMBER(name)  PFN_vk##name name;
#define BENCH_VK_MEMBERS(name) BENCH_VK_MEMBER(Create##name) BENCH_VK_MEMBER(Destroy##name)
    BENCH_VK_FUNCTIONS(BENCH_VK_MEMBER)
    BENCH_VK_OBJECTS(BENCH_VK_MEMBERS)
    BENCH_VK_MEMBER(GetPhysicalDeviceMemoryProperties)
    BENCH_VK_EXPORTS(BENCH_VK_MEMBER)
} bench_vk;

_Noreturn void bench_fail_vk(VkResult result, const char *call);
static inline void bench_check_vk(VkResult result, const char *call)
{
    if (result != VK_SUCCESS)
        bench_fail_vk(result, call);
}

/*
 * VK() calls a Vulkan function by its name without vk. VK_KEEP() creates an object, which the scope
 * destroys: VK_KEEP(Buffer, &info, &buffer).
 */
#define VK(name, ...) bench_check_vk(bench_vk.name(__VA_ARGS__), "vk" #name)
#define VK_KEEP(Object, info, made)                                                                \
    (VK(Create##Object, bench_vk.on.device, info, NULL, made),                                     \
     bench_later(bench_vk_end_##Object, *(made)))
#define BENCH_VK_DECLARE_END(Object) void bench_vk_end_##Object(void *object);
BENCH_VK_OBJECTS(BENCH_VK_DECLARE_END)

/*
 * Opens Vulkan on that CUDA device. bench_vk_close() is for bench_at_end(). It accepts a device
 * that is unopened or only partly open.
 */
void bench_vk_open(int cuda_device);
void bench_vk_close(void);

/* The device and that queue for grinterop. */
gr_vk_device *bench_vk_wrap(const struct bench_vk_queue *queue, unsigned transports,
                            bool synchronization2);

/* Begins a command buffer. */
VkCommandBuffer bench_vk_record(struct bench_vk_queue *queue, VkCommandBufferUsageFlags usage);

/* ---- Memory ---------------------------------------------------------------------------------- */

/* A buffer or an image with its own memory. */
struct bench_vk_object {
    VkBuffer buffer;
    VkImage image;
    VkImageView view;
    VkDeviceMemory memory;
    VkDeviceSize memory_size;
    void *bytes; /* of a buffer that is not exported, on the host */
};

/*
 * Objects that are exported have device memory that CUDA can import, dedicated to images, since
 * some drivers require it. Other buffers have host memory, and other images a view.
 */
struct bench_vk_object bench_vk_buffer(VkDeviceSize size, VkBufferUsageFlags usage, bool exported);
struct bench_vk_object bench_vk_image(const VkImageCreateInfo *info, bool exported);

/* A colour image with one level and layer. */
VkImageCreateInfo bench_vk_image_info(VkFormat format, uint32_t width, uint32_t height,
                                      VkImageUsageFlags usage);
static const VkImageSubresourceLayers BENCH_VK_COLOUR = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};

/* ---- Timeline semaphores --------------------------------------------------------------------- */

VkSemaphore bench_vk_timeline(bool exported);
int bench_vk_export(VkSemaphore semaphore);        /* a descriptor that the caller owns */
CUexternalSemaphore bench_import_timeline(int fd); /* takes the descriptor */

#endif
