/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Vulkan buffers and images that are not shared with CUDA. */
#ifndef VULKAN_MEMORY_H
#define VULKAN_MEMORY_H

#include "bench/frames/vulkan_device.h"

/* A buffer that the host can access. */
struct vulkan_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    void *bytes;
};

struct vulkan_image {
    VkImage image;
    VkDeviceMemory memory;
    VkImageView view;
};

/*
 * False after an error, which has been printed. The free function cleans up in any case and accepts
 * a zeroed struct.
 */
bool vulkan_buffer_init(const struct vulkan *vulkan, VkDeviceSize size, VkBufferUsageFlags usage,
                        struct vulkan_buffer *buffer);
void vulkan_buffer_free(const struct vulkan *vulkan, struct vulkan_buffer *buffer);

/* Creates a colour image with one level and layer, in device memory. */
bool vulkan_image_init(const struct vulkan *vulkan, VkFormat format, int width, int height,
                       VkImageUsageFlags usage, struct vulkan_image *image);
void vulkan_image_free(const struct vulkan *vulkan, struct vulkan_image *image);

/* The colour aspect of an image with one level and layer. */
VkImageSubresourceLayers vulkan_colour_layer(void);

/* Records a barrier that makes the writes of previous commands visible to the host. */
void vulkan_show_host(const struct vulkan *vulkan, VkCommandBuffer commands);

#endif
