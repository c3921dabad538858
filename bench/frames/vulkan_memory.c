/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Vulkan buffers and images that are not shared. */
#include "bench/frames/vulkan_memory.h"

#include <stdio.h>

/* Allocates memory of a type that the resource supports and that has all the `properties`. */
static VkDeviceMemory allocate(const struct vulkan *v, const VkMemoryRequirements *needs,
                               VkMemoryPropertyFlags properties)
{
    VkPhysicalDeviceMemoryProperties has;
    v->GetPhysicalDeviceMemoryProperties(v->physical_device, &has);
    for (uint32_t i = 0; i < has.memoryTypeCount; i++) {
        if (!(needs->memoryTypeBits & 1u << i) ||
            (has.memoryTypes[i].propertyFlags & properties) != properties)
            continue;
        const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                           .allocationSize = needs->size,
                                           .memoryTypeIndex = i};
        VkDeviceMemory memory = VK_NULL_HANDLE;
        vulkan_ok(v->AllocateMemory(v->device, &info, NULL, &memory), "allocate memory");
        return memory;
    }
    fprintf(stderr, "Vulkan has no memory of the required type.\n");
    return VK_NULL_HANDLE;
}

bool vulkan_buffer_init(const struct vulkan *v, VkDeviceSize size, VkBufferUsageFlags usage,
                        struct vulkan_buffer *b)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage};
    if (!vulkan_ok(v->CreateBuffer(v->device, &info, NULL, &b->buffer), "make a buffer"))
        return false;
    VkMemoryRequirements needs;
    v->GetBufferMemoryRequirements(v->device, b->buffer, &needs);
    b->memory = allocate(
        v, &needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    return b->memory != VK_NULL_HANDLE &&
           vulkan_ok(v->BindBufferMemory(v->device, b->buffer, b->memory, 0), "use memory") &&
           vulkan_ok(v->MapMemory(v->device, b->memory, 0, size, 0, &b->bytes), "map memory");
}

void vulkan_buffer_free(const struct vulkan *v, struct vulkan_buffer *b)
{
    if (b->buffer != VK_NULL_HANDLE)
        v->DestroyBuffer(v->device, b->buffer, NULL);
    if (b->memory != VK_NULL_HANDLE)
        v->FreeMemory(v->device, b->memory, NULL);
    *b = (struct vulkan_buffer){0};
}

bool vulkan_image_init(const struct vulkan *v, VkFormat format, int width, int height,
                       VkImageUsageFlags usage, struct vulkan_image *image)
{
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = format,
                                    .extent = {(uint32_t)width, (uint32_t)height, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = usage};
    if (!vulkan_ok(v->CreateImage(v->device, &info, NULL, &image->image), "make an image"))
        return false;
    VkMemoryRequirements needs;
    v->GetImageMemoryRequirements(v->device, image->image, &needs);
    image->memory = allocate(v, &needs, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    if (image->memory == VK_NULL_HANDLE ||
        !vulkan_ok(v->BindImageMemory(v->device, image->image, image->memory, 0), "use memory"))
        return false;
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image->image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = format,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
    return vulkan_ok(v->CreateImageView(v->device, &view, NULL, &image->view), "view an image");
}

void vulkan_image_free(const struct vulkan *v, struct vulkan_image *image)
{
    if (image->view != VK_NULL_HANDLE)
        v->DestroyImageView(v->device, image->view, NULL);
    if (image->image != VK_NULL_HANDLE)
        v->DestroyImage(v->device, image->image, NULL);
    if (image->memory != VK_NULL_HANDLE)
        v->FreeMemory(v->device, image->memory, NULL);
    *image = (struct vulkan_image){0};
}

VkImageSubresourceLayers vulkan_colour_layer(void)
{
    return (VkImageSubresourceLayers){.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .layerCount = 1};
}

void vulkan_show_host(const struct vulkan *v, VkCommandBuffer commands)
{
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    v->CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                          0, 1, &barrier, 0, NULL, 0, NULL);
}
