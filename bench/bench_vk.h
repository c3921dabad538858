/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Vulkan for the benchmarks: one device, its functions, queues and commands, and memory and
 * semaphores by raw calls. Functions that return false or NULL have set the error.
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
    X(CmdPushConstants)                                                                            \
    X(CreateBuffer)                                                                                \
    X(CreateCommandPool)                                                                           \
    X(CreateFramebuffer)                                                                           \
    X(CreateGraphicsPipelines)                                                                     \
    X(CreateImage)                                                                                 \
    X(CreateImageView)                                                                             \
    X(CreatePipelineLayout)                                                                        \
    X(CreateRenderPass)                                                                            \
    X(CreateSemaphore)                                                                             \
    X(CreateShaderModule)                                                                          \
    X(DestroyBuffer)                                                                               \
    X(DestroyCommandPool)                                                                          \
    X(DestroyFramebuffer)                                                                          \
    X(DestroyImage)                                                                                \
    X(DestroyImageView)                                                                            \
    X(DestroyPipeline)                                                                             \
    X(DestroyPipelineLayout)                                                                       \
    X(DestroyRenderPass)                                                                           \
    X(DestroySemaphore)                                                                            \
    X(DestroyShaderModule)                                                                         \
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
#define BENCH_VK_INSTANCE_FUNCTIONS(X)                                                             \
    X(GetPhysicalDeviceMemoryProperties)                                                           \
    X(GetPhysicalDeviceProperties2)
/* NULL if the device has no such extension */
#define BENCH_VK_EXPORTS(X)                                                                        \
    X(GetMemoryFdKHR)                                                                              \
    X(GetSemaphoreFdKHR)

/* VK_NULL_HANDLE: the device has no such queue. */
struct bench_vk_queue {
    VkQueue queue;
    uint32_t family;
    VkCommandPool pool; /* created by the first bench_vk_record() */
};

enum { BENCH_GRAPHICS, BENCH_COMPUTE, BENCH_TRANSFER, BENCH_QUEUES };

extern struct bench_vk {
    gr_vk_headless *headless; /* NULL: the device is the CPU */
    gr_vk_device_desc on;     /* the device, without a queue */
    bool synchronization2;
    struct bench_vk_queue queues[BENCH_QUEUES];
#define BENCH_VK_MEMBER(name) PFN_vk##name name;
    BENCH_VK_FUNCTIONS(BENCH_VK_MEMBER)
    BENCH_VK_INSTANCE_FUNCTIONS(BENCH_VK_MEMBER)
    BENCH_VK_EXPORTS(BENCH_VK_MEMBER)
#undef BENCH_VK_MEMBER
} bench_vk;

bool bench_vk_failed(VkResult result, const char *call);
static inline bool bench_vk_ok(VkResult result, const char *call)
{
    return result == VK_SUCCESS || bench_vk_failed(result, call);
}

/* Calls a Vulkan function by its name without vk. True on success. */
#define VK(name, ...) bench_vk_ok(bench_vk.name(__VA_ARGS__), "vk" #name)

/*
 * Opens Vulkan on that CUDA device, or Mesa on the CPU. bench_vk_close() accepts a device that is
 * unopened or only partly open.
 */
bool bench_vk_open(int cuda_device);
bool bench_vk_open_software(void);
void bench_vk_close(void);

/* The device and that queue for grinterop. */
gr_vk_device *bench_vk_wrap(const struct bench_vk_queue *queue, unsigned transports,
                            bool synchronization2);

/* Begins a command buffer, which lives until bench_vk_end_commands(). */
VkCommandBuffer bench_vk_record(struct bench_vk_queue *queue, VkCommandBufferUsageFlags usage);
void bench_vk_end_commands(struct bench_vk_queue *queue);

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
bool bench_vk_buffer(struct bench_vk_object *object, VkDeviceSize size, VkBufferUsageFlags usage,
                     bool exported);
bool bench_vk_image(struct bench_vk_object *object, const VkImageCreateInfo *info, bool exported);
void bench_vk_free(struct bench_vk_object *object);

/* A colour image with one level and layer. */
VkImageCreateInfo bench_vk_image_info(VkFormat format, uint32_t width, uint32_t height,
                                      VkImageUsageFlags usage);
static const VkImageSubresourceLayers BENCH_VK_COLOUR = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};

/* ---- Timeline semaphores --------------------------------------------------------------------- */

bool bench_vk_timeline(VkSemaphore *semaphore, bool exported);
int bench_vk_export(VkSemaphore semaphore); /* a descriptor that the caller owns, or -1 */
bool bench_import_timeline(int fd, CUexternalSemaphore *semaphore); /* takes the descriptor */

#endif
