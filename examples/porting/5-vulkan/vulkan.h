/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vulkan as ripples needs it: one device, as there was one OpenGL context, memory, and the commands
 * of a frame. What is grinterop's in it is which extensions and which GPU to take.
 */
#ifndef RIPPLES_VULKAN_H
#define RIPPLES_VULKAN_H

#include <functional>
#include <vector>

#include <vulkan/vulkan.h>

#define checkVulkan(call) checkVulkanResult(call, #call)

/* Says why and ends the program, unless the call succeeded. */
void checkVulkanResult(VkResult result, const char *call);

extern struct Vulkan {
    VkInstance instance;
    VkPhysicalDevice gpu;
    VkDevice device;
    uint32_t family;
    VkQueue queue;
    VkCommandPool pool;
} vk;

/* With `extensions`, the window's, beside those that CUDA needs. */
void createInstance(std::vector<const char *> extensions);
void createDevice(int cudaDevice, std::vector<const char *> extensions);

/* What ends an object that was made here. The newest ends first, once the GPU is done. */
void atEnd(std::function<void()> end);
void destroyVulkan();

/* Memory that the host writes or reads. */
struct Buffer {
    VkBuffer buffer;
    void *bytes;
};
Buffer createBuffer(VkBufferUsageFlags usage, VkDeviceSize size, const void *data);

/* Memory of the GPU: four bytes a pixel, and square. */
struct Image {
    VkImage image;
    VkImageView view;
};
VkImageCreateInfo imageInfo(uint32_t side, VkImageUsageFlags usage);
Image createImage(uint32_t side, VkImageUsageFlags usage);

VkSemaphore createSemaphore();

/* What is recorded anew for each frame, once the GPU is done with it. */
struct Frame {
    VkCommandBuffer commands;
    VkFence done;
    VkSemaphore taken; /* the window's image may be written */
};
Frame createFrame();
void beginFrame(const Frame &frame);

/* After all commands before, and before all after them. */
void changeLayout(VkCommandBuffer commands, VkImage image, VkImageLayout from, VkImageLayout to);

/* A whole image, which has the layout TRANSFER_DST_OPTIMAL then, and had any or none before. */
void copyToImage(VkCommandBuffer commands, VkBuffer from, VkDeviceSize offset, VkImage to,
                 uint32_t side);

/* A whole image, whose layout is TRANSFER_SRC_OPTIMAL, for the host. */
void copyFromImage(VkCommandBuffer commands, VkImage from, VkBuffer to, uint32_t side);

/* Without grinterop: ends the commands, and waits until they are done. */
void runFrame(const Frame &frame);

#endif
