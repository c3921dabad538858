/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The Vulkan code of ripples: the device, memory, and the commands of a frame. grinterop only
 * determines the extensions and the GPU.
 */
#ifndef RIPPLES_VULKAN_H
#define RIPPLES_VULKAN_H

#include <functional>
#include <vector>

#include <vulkan/vulkan.h>

#define checkVulkan(call) checkVulkanResult(call, #call)

/* If the call failed, prints the error and exits. */
void checkVulkanResult(VkResult result, const char *call);

extern struct Vulkan {
    VkInstance instance;
    VkPhysicalDevice gpu;
    VkDevice device;
    uint32_t family;
    VkQueue queue;
    VkCommandPool pool;
} vk;

/* `extensions`: the extensions that the window needs, in addition to those for CUDA. */
void createInstance(std::vector<const char *> extensions);
void createDevice(int cudaDevice, std::vector<const char *> extensions);

/*
 * Registers a function that destroys an object. The functions run in reverse order, once the GPU is
 * idle.
 */
void atEnd(std::function<void()> end);
void destroyVulkan();

/* Memory that the host can access. */
struct Buffer {
    VkBuffer buffer;
    void *bytes;
};
Buffer createBuffer(VkBufferUsageFlags usage, VkDeviceSize size, const void *data);

/* An image in GPU memory: square, four bytes per pixel. */
struct Image {
    VkImage image;
    VkImageView view;
};
VkImageCreateInfo imageInfo(uint32_t side, VkImageUsageFlags usage);
Image createImage(uint32_t side, VkImageUsageFlags usage);

VkSemaphore createSemaphore();

/* The objects of a frame. Its commands are recorded again once the GPU is done with them. */
struct Frame {
    VkCommandBuffer commands;
    VkFence done;
    VkSemaphore taken; /* signalled when the window image may be written */
};
Frame createFrame();
void beginFrame(const Frame &frame);

/* The layout change is ordered after all previous commands and before all later ones. */
void changeLayout(VkCommandBuffer commands, VkImage image, VkImageLayout from, VkImageLayout to);

/*
 * Copies to a whole image, whose layout becomes TRANSFER_DST_OPTIMAL. Any previous layout is
 * allowed.
 */
void copyToImage(VkCommandBuffer commands, VkBuffer from, VkDeviceSize offset, VkImage to,
                 uint32_t side);

/* Copies from a whole image, whose layout is TRANSFER_SRC_OPTIMAL, for the host. */
void copyFromImage(VkCommandBuffer commands, VkImage from, VkBuffer to, uint32_t side);

/* Without grinterop: ends the commands, submits them, and waits until they are done. */
void runFrame(const Frame &frame);

#endif
