/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program here needs of Vulkan to draw without a window: a device that CUDA shares, Vulkan's
 * functions, one queue, command buffers and submits. vulkan_memory.h has buffers and images,
 * vulkan_pipeline.h shaders.
 */
#ifndef VULKAN_H
#define VULKAN_H

#include <stdbool.h>

#include <grinterop/vk.h>

/*
 * Vulkan is not linked: grinterop found it, and its functions are asked for by name, first those of
 * the device.
 */
#define VULKAN_FUNCTIONS(X)                                                                        \
    X(AllocateCommandBuffers)                                                                      \
    X(AllocateDescriptorSets)                                                                      \
    X(AllocateMemory)                                                                              \
    X(BeginCommandBuffer)                                                                          \
    X(BindBufferMemory)                                                                            \
    X(BindImageMemory)                                                                             \
    X(CmdBeginRenderPass)                                                                          \
    X(CmdBindDescriptorSets)                                                                       \
    X(CmdBindIndexBuffer)                                                                          \
    X(CmdBindPipeline)                                                                             \
    X(CmdBindVertexBuffers)                                                                        \
    X(CmdBlitImage)                                                                                \
    X(CmdCopyBufferToImage)                                                                        \
    X(CmdCopyImage)                                                                                \
    X(CmdCopyImageToBuffer)                                                                        \
    X(CmdDispatch)                                                                                 \
    X(CmdDraw)                                                                                     \
    X(CmdDrawIndexed)                                                                              \
    X(CmdEndRenderPass)                                                                            \
    X(CmdPipelineBarrier)                                                                          \
    X(CmdPushConstants)                                                                            \
    X(CmdSetScissor)                                                                               \
    X(CmdSetViewport)                                                                              \
    X(CreateBuffer)                                                                                \
    X(CreateCommandPool)                                                                           \
    X(CreateComputePipelines)                                                                      \
    X(CreateDescriptorPool)                                                                        \
    X(CreateDescriptorSetLayout)                                                                   \
    X(CreateFence)                                                                                 \
    X(CreateFramebuffer)                                                                           \
    X(CreateGraphicsPipelines)                                                                     \
    X(CreateImage)                                                                                 \
    X(CreateImageView)                                                                             \
    X(CreatePipelineLayout)                                                                        \
    X(CreateRenderPass)                                                                            \
    X(CreateSampler)                                                                               \
    X(CreateShaderModule)                                                                          \
    X(DestroyBuffer)                                                                               \
    X(DestroyCommandPool)                                                                          \
    X(DestroyDescriptorPool)                                                                       \
    X(DestroyDescriptorSetLayout)                                                                  \
    X(DestroyFence)                                                                                \
    X(DestroyFramebuffer)                                                                          \
    X(DestroyImage)                                                                                \
    X(DestroyImageView)                                                                            \
    X(DestroyPipeline)                                                                             \
    X(DestroyPipelineLayout)                                                                       \
    X(DestroyRenderPass)                                                                           \
    X(DestroySampler)                                                                              \
    X(DestroyShaderModule)                                                                         \
    X(DeviceWaitIdle)                                                                              \
    X(EndCommandBuffer)                                                                            \
    X(FreeMemory)                                                                                  \
    X(GetBufferMemoryRequirements)                                                                 \
    X(GetImageMemoryRequirements)                                                                  \
    X(MapMemory)                                                                                   \
    X(QueueSubmit)                                                                                 \
    X(ResetFences)                                                                                 \
    X(UpdateDescriptorSets)                                                                        \
    X(WaitForFences)

#define VULKAN_INSTANCE_FUNCTIONS(X)                                                               \
    X(GetPhysicalDeviceMemoryProperties)                                                           \
    X(GetPhysicalDeviceProperties)

enum vulkan_queue { VULKAN_GRAPHICS, VULKAN_COMPUTE, VULKAN_TRANSFER };

struct vulkan {
    gr_vk_headless *headless; /* NULL: the device is the program's */
    gr_vk_device *shared;     /* the device, as grinterop knows it */
    VkPhysicalDevice physical_device;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    VkCommandPool pool;
    VkFence fence;     /* for vulkan_wait() */
    unsigned messages; /* of the validation layer; each was printed */
#define VULKAN_MEMBER(name) PFN_vk##name name;
    VULKAN_FUNCTIONS(VULKAN_MEMBER)
    VULKAN_INSTANCE_FUNCTIONS(VULKAN_MEMBER)
#undef VULKAN_MEMBER
};

/*
 * Opens Vulkan on the first CUDA device, with a queue of that kind, and prints what it runs on.
 * Where the device has no family for compute or transfer alone, the graphics queue does that work.
 * False after an error, which has been printed; either way vulkan_close() cleans up. The struct
 * stays where it is in between.
 */
bool vulkan_open(struct vulkan *vulkan, enum vulkan_queue queue, bool validate);

/* Likewise, on the CUDA device of that number, which need not be the one in use. */
bool vulkan_open_on(struct vulkan *vulkan, int cuda_device, enum vulkan_queue queue, bool validate);

/* Likewise, of a device that the program has made, with the queue for all of it. */
bool vulkan_open_own(struct vulkan *vulkan, const gr_vk_device_desc *device);

/* After everything that was made of it. False if the validation layer had something to say. */
bool vulkan_close(struct vulkan *vulkan);

/* True if the result is VK_SUCCESS; else prints what `doing` (such as "make a buffer") met. */
bool vulkan_ok(VkResult result, const char *doing);

/* A command buffer that is being recorded; NULL after an error. It lives as long as `vulkan`. */
VkCommandBuffer vulkan_record(const struct vulkan *vulkan, VkCommandBufferUsageFlags usage);

/* Submits commands of Vulkan's alone, and waits until they are done. */
bool vulkan_run(const struct vulkan *vulkan, VkCommandBuffer commands);

/* Waits for the submit that signals `fence`. */
bool vulkan_wait(const struct vulkan *vulkan);

#endif
