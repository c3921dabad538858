/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Vulkan for bench_frames: a device that CUDA shares, Vulkan functions, one queue, command buffers
 * and submits. vulkan_memory.h has buffers and images.
 */
#ifndef VULKAN_DEVICE_H
#define VULKAN_DEVICE_H

#include <stdbool.h>

#include <grinterop/vk.h>

/*
 * The Vulkan functions that bench_frames uses. Vulkan is not linked: grinterop loads it, and the
 * functions are looked up by name, device functions first.
 */
#define VULKAN_FUNCTIONS(X)                                                                        \
    X(AllocateCommandBuffers)                                                                      \
    X(AllocateMemory)                                                                              \
    X(BeginCommandBuffer)                                                                          \
    X(BindBufferMemory)                                                                            \
    X(BindImageMemory)                                                                             \
    X(CmdBeginRenderPass)                                                                          \
    X(CmdBindPipeline)                                                                             \
    X(CmdBindVertexBuffers)                                                                        \
    X(CmdCopyImageToBuffer)                                                                        \
    X(CmdDraw)                                                                                     \
    X(CmdEndRenderPass)                                                                            \
    X(CmdPipelineBarrier)                                                                          \
    X(CmdPushConstants)                                                                            \
    X(CreateBuffer)                                                                                \
    X(CreateCommandPool)                                                                           \
    X(CreateFence)                                                                                 \
    X(CreateFramebuffer)                                                                           \
    X(CreateGraphicsPipelines)                                                                     \
    X(CreateImage)                                                                                 \
    X(CreateImageView)                                                                             \
    X(CreatePipelineLayout)                                                                        \
    X(CreateRenderPass)                                                                            \
    X(CreateShaderModule)                                                                          \
    X(DestroyBuffer)                                                                               \
    X(DestroyCommandPool)                                                                          \
    X(DestroyFence)                                                                                \
    X(DestroyFramebuffer)                                                                          \
    X(DestroyImage)                                                                                \
    X(DestroyImageView)                                                                            \
    X(DestroyPipeline)                                                                             \
    X(DestroyPipelineLayout)                                                                       \
    X(DestroyRenderPass)                                                                           \
    X(DestroyShaderModule)                                                                         \
    X(DeviceWaitIdle)                                                                              \
    X(EndCommandBuffer)                                                                            \
    X(FreeMemory)                                                                                  \
    X(GetBufferMemoryRequirements)                                                                 \
    X(GetImageMemoryRequirements)                                                                  \
    X(MapMemory)                                                                                   \
    X(QueueSubmit)                                                                                 \
    X(ResetFences)                                                                                 \
    X(WaitForFences)

#define VULKAN_INSTANCE_FUNCTIONS(X)                                                               \
    X(GetPhysicalDeviceMemoryProperties)                                                           \
    X(GetPhysicalDeviceProperties)

struct vulkan {
    gr_vk_headless *headless; /* NULL if the program created the device */
    gr_vk_device *shared;     /* `device` as grinterop uses it */
    VkPhysicalDevice physical_device;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    VkCommandPool pool;
    VkFence fence; /* the fence that vulkan_run() waits for */
#define VULKAN_MEMBER(name) PFN_vk##name name;
    VULKAN_FUNCTIONS(VULKAN_MEMBER)
    VULKAN_INSTANCE_FUNCTIONS(VULKAN_MEMBER)
#undef VULKAN_MEMBER
};

/*
 * Opens Vulkan on that CUDA device, which need not be the device in use, with the graphics queue,
 * and prints the device. False after an error, which has been printed. vulkan_close() cleans up in
 * any case; the struct must not move before that.
 */
bool vulkan_open_on(struct vulkan *vulkan, int cuda_device);

/* Like vulkan_open_on(), for a device that the program created, and its queue. */
bool vulkan_open_own(struct vulkan *vulkan, const gr_vk_device_desc *device);

/* Must be called after everything made from the device is freed. */
void vulkan_close(struct vulkan *vulkan);

/*
 * True for VK_SUCCESS. For any other result, prints that `doing` failed, such as "make a buffer",
 * and why.
 */
bool vulkan_ok(VkResult result, const char *doing);

/* Begins a command buffer, which lives as long as `vulkan`. NULL after an error. */
VkCommandBuffer vulkan_record(const struct vulkan *vulkan, VkCommandBufferUsageFlags usage);

/* Submits commands that do not involve CUDA, and waits until they are done. */
bool vulkan_run(const struct vulkan *vulkan, VkCommandBuffer commands);

#endif
