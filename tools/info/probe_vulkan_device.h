/* SPDX-License-Identifier: Apache-2.0 */
/* Vulkan for the probes: a device on the one that computes, its copies and their submits. */
#ifndef INFO_PROBE_VULKAN_DEVICE_H
#define INFO_PROBE_VULKAN_DEVICE_H

#include <grinterop/vk.h>

#include "tools/info/probe_try.h"

#define PROBE_VULKAN_FUNCTIONS(X)                                                                  \
    X(AllocateCommandBuffers)                                                                      \
    X(BeginCommandBuffer)                                                                          \
    X(CmdCopyBuffer)                                                                               \
    X(CmdCopyBufferToImage)                                                                        \
    X(CmdCopyImageToBuffer)                                                                        \
    X(CreateCommandPool)                                                                           \
    X(DestroyCommandPool)                                                                          \
    X(EndCommandBuffer)                                                                            \
    X(QueueWaitIdle)

struct probe_vulkan {
    gr_vk_headless *headless;
    const gr_vk_headless_info *made;
    gr_vk_device *device;
    VkCommandPool pool;
#define PROBE_VULKAN_POINTER(name) PFN_vk##name name;
    PROBE_VULKAN_FUNCTIONS(PROBE_VULKAN_POINTER)
#undef PROBE_VULKAN_POINTER
};

/* False after a failure; it has to be closed in any case, after what was made of it. */
bool probe_vulkan_open(struct probe_try *t, struct probe_vulkan *vk);
void probe_vulkan_close(struct probe_vulkan *vk);

/* A buffer that Vulkan copies from and to; NULL after a failure. */
gr_resource *probe_vulkan_buffer(struct probe_try *t, const struct probe_vulkan *vk, size_t size);

/* Commands that have begun, and how they are ended and submitted. */
VkCommandBuffer probe_vulkan_begin(struct probe_try *t, const struct probe_vulkan *vk);

/*
 * Submits the commands, which copy, with what CUDA's part needs around them: between CUDA's use of
 * the resources of the submit and its next one. VK_NULL_HANDLE: Vulkan has them now, and hands them
 * to CUDA.
 */
bool probe_vulkan_submit(struct probe_try *t, const struct probe_vulkan *vk, gr_submit *submit,
                         VkCommandBuffer commands);

#endif
