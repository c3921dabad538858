/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers and images of Vulkan's alone, which CUDA does not see.
 */
#ifndef VULKAN_MEMORY_H
#define VULKAN_MEMORY_H

#include "vulkan.h"

/* A buffer that the host sees as well. */
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
 * False after an error, which has been printed. Either way the free function cleans up; zeros are
 * fine.
 */
bool vulkan_buffer_init(const struct vulkan *vulkan, VkDeviceSize size, VkBufferUsageFlags usage,
                        struct vulkan_buffer *buffer);
void vulkan_buffer_free(const struct vulkan *vulkan, struct vulkan_buffer *buffer);

/* What makes an image of one level and layer. */
VkImageCreateInfo vulkan_image_info(VkFormat format, int width, int height,
                                    VkImageUsageFlags usage);

/*
 * Of one level and layer, in the device's memory. The format says whether it holds colours or
 * depth.
 */
bool vulkan_image_init(const struct vulkan *vulkan, VkFormat format, int width, int height,
                       VkImageUsageFlags usage, struct vulkan_image *image);
void vulkan_image_free(const struct vulkan *vulkan, struct vulkan_image *image);

/* A view of an image of one level and layer; VK_NULL_HANDLE after an error. */
VkImageView vulkan_view(const struct vulkan *vulkan, VkImage image, VkFormat format);

/* All of an image of one level and layer, with its colours. */
VkImageSubresourceLayers vulkan_colour_layer(void);

/* Records a barrier by which an image gets another layout, after and before all other commands. */
void vulkan_change_layout(const struct vulkan *vulkan, VkCommandBuffer commands, VkImage image,
                          VkImageLayout from, VkImageLayout to);

/* Records a barrier by which the host sees what the commands before it have written. */
void vulkan_show_host(const struct vulkan *vulkan, VkCommandBuffer commands);

#endif
