/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Headless Vulkan for the examples: a device that CUDA shares, Vulkan functions, one queue, command
 * buffers and submits. vulkan_memory.h has buffers and images; vulkan_pipeline.h has shaders.
 */
#ifndef VULKAN_H
#define VULKAN_H

#include <stdbool.h>

#include <grinterop/vk.h>

/*
 * The Vulkan functions that the examples use. Vulkan is not linked: grinterop loads it, and the
 * functions are looked up by name, device functions first.
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
    gr_vk_headless *headless; /* NULL if the program created the device */
    gr_vk_device *shared;     /* `device` as grinterop uses it */
    VkPhysicalDevice physical_device;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    VkCommandPool pool;
    VkFence fence; /* the fence that vulkan_wait() waits for */
    /* the number of messages from the validation layer, each of which was printed */
    unsigned messages;
#define VULKAN_MEMBER(name) PFN_vk##name name;
    VULKAN_FUNCTIONS(VULKAN_MEMBER)
    VULKAN_INSTANCE_FUNCTIONS(VULKAN_MEMBER)
#undef VULKAN_MEMBER
};

/*
 * Opens Vulkan on the first CUDA device, with a queue of the given kind, and prints the device. If
 * the device has no queue family that only computes or only transfers, the graphics queue is used.
 * `transports` is that of gr_vk_device_desc. False after an error, which has been printed.
 * vulkan_close() cleans up in any case; the struct must not move before that.
 */
bool vulkan_open(struct vulkan *vulkan, enum vulkan_queue queue, bool validate,
                 unsigned transports);

/* Like vulkan_open(), on the CUDA device of that number, which need not be the device in use. */
bool vulkan_open_on(struct vulkan *vulkan, int cuda_device, enum vulkan_queue queue, bool validate,
                    unsigned transports);

/* Like vulkan_open(), for a device that the program created. Its queue is used for everything. */
bool vulkan_open_own(struct vulkan *vulkan, const gr_vk_device_desc *device);

/*
 * Must be called after everything made from the device is freed. False if the validation layer
 * printed a message.
 */
bool vulkan_close(struct vulkan *vulkan);

/*
 * Sets a member to the function of that name. If there is no such function, prints an error and
 * returns false.
 */
#define VULKAN_FIND_ONE(object, name, function)                                                    \
    vulkan_found((PFN_vkVoidFunction)((object)->name = (PFN_vk##name)(function)), "vk" #name)
bool vulkan_found(PFN_vkVoidFunction function, const char *name);

/*
 * True for VK_SUCCESS. For any other result, prints that `doing` failed, such as "make a buffer",
 * and why.
 */
bool vulkan_ok(VkResult result, const char *doing);

/* Begins a command buffer, which lives as long as `vulkan`. NULL after an error. */
VkCommandBuffer vulkan_record(const struct vulkan *vulkan, VkCommandBufferUsageFlags usage);

/* Submits commands that do not involve CUDA, and waits until they are done. */
bool vulkan_run(const struct vulkan *vulkan, VkCommandBuffer commands);

/* Waits for the submit that signals `fence`. */
bool vulkan_wait(const struct vulkan *vulkan);

#endif
