/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Vulkan device, memory and commands. */
#include "vulkan.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <grinterop/gr.hpp>
#include <grinterop/vk.h>

#include "window.h"

using grinterop::check;

Vulkan vk;
static std::vector<std::function<void()>> ends;

void checkVulkanResult(VkResult result, const char *call)
{
    if (result == VK_SUCCESS)
        return;
    fprintf(stderr, "%s: VkResult %d\n", call, result);
    exit(1);
}

void atEnd(std::function<void()> end)
{
    ends.push_back(end);
}

void destroyVulkan()
{
    vkDeviceWaitIdle(vk.device);
    for (; !ends.empty(); ends.pop_back())
        ends.back()();
}

/* ---- The device ---- */

void createInstance(std::vector<const char *> extensions)
{
    uint32_t count = 0;
    check(gr_vk_instance_extensions(nullptr, &count));
    extensions.resize(extensions.size() + count);
    check(gr_vk_instance_extensions(&extensions[extensions.size() - count], &count));

    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pApplicationName = "ripples",
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application,
                                       .enabledExtensionCount = uint32_t(extensions.size()),
                                       .ppEnabledExtensionNames = extensions.data()};
    checkVulkan(vkCreateInstance(&info, nullptr, &vk.instance));
    atEnd([] { vkDestroyInstance(vk.instance, nullptr); });
}

/* Finds one queue family that draws and presents. */
static uint32_t chooseFamily()
{
    uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(vk.gpu, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vkGetPhysicalDeviceQueueFamilyProperties(vk.gpu, &count, families.data());
    for (uint32_t i = 0; i < count; i++)
        if (families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT && canPresent(i))
            return i;
    fprintf(stderr, "the GPU that CUDA computes on shows nothing in this window\n");
    exit(1);
}

/* Uses the GPU that CUDA computes on, and enables what CUDA needs. */
void createDevice(int cudaDevice, std::vector<const char *> extensions)
{
    check(gr_vk_physical_device(vkGetInstanceProcAddr, vk.instance, cudaDevice, &vk.gpu));
    gr_vk_device_desc desc = GR_INIT(gr_vk_device_desc);
    desc.get_instance_proc_addr = vkGetInstanceProcAddr;
    desc.instance = vk.instance;
    desc.physical_device = vk.gpu;
    uint32_t count = 0;
    check(gr_vk_device_extensions(&desc, nullptr, &count));
    extensions.resize(extensions.size() + count);
    check(gr_vk_device_extensions(&desc, &extensions[extensions.size() - count], &count));

    vk.family = chooseFamily();
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = vk.family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    VkPhysicalDeviceVulkan13Features features13 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
        .synchronization2 = VK_TRUE,
        .dynamicRendering = VK_TRUE};
    const VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .pNext = &features13,
        .timelineSemaphore = VK_TRUE};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &features12,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = uint32_t(extensions.size()),
                                     .ppEnabledExtensionNames = extensions.data()};
    checkVulkan(vkCreateDevice(vk.gpu, &info, nullptr, &vk.device));
    atEnd([] { vkDestroyDevice(vk.device, nullptr); });
    vkGetDeviceQueue(vk.device, vk.family, 0, &vk.queue);
}

/* ---- Memory ---- */

static VkDeviceMemory allocate(const VkMemoryRequirements &needs, VkMemoryPropertyFlags wanted)
{
    VkPhysicalDeviceMemoryProperties has;
    vkGetPhysicalDeviceMemoryProperties(vk.gpu, &has);
    uint32_t type = 0;
    while (type < has.memoryTypeCount && (!(needs.memoryTypeBits & 1u << type) ||
                                          (has.memoryTypes[type].propertyFlags & wanted) != wanted))
        type++;
    if (type == has.memoryTypeCount) {
        fprintf(stderr, "this GPU has no memory of the required type\n");
        exit(1);
    }
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .allocationSize = needs.size,
                                       .memoryTypeIndex = type};
    VkDeviceMemory memory;
    checkVulkan(vkAllocateMemory(vk.device, &info, nullptr, &memory));
    atEnd([=] { vkFreeMemory(vk.device, memory, nullptr); });
    return memory;
}

Buffer createBuffer(VkBufferUsageFlags usage, VkDeviceSize size, const void *data)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage};
    Buffer made;
    checkVulkan(vkCreateBuffer(vk.device, &info, nullptr, &made.buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(vk.device, made.buffer, &needs);
    const VkDeviceMemory memory =
        allocate(needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    atEnd([=] { vkDestroyBuffer(vk.device, made.buffer, nullptr); });
    checkVulkan(vkBindBufferMemory(vk.device, made.buffer, memory, 0));
    checkVulkan(vkMapMemory(vk.device, memory, 0, size, 0, &made.bytes));
    if (data)
        memcpy(made.bytes, data, size);
    return made;
}

VkImageCreateInfo imageInfo(uint32_t side, VkImageUsageFlags usage)
{
    return {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
            .imageType = VK_IMAGE_TYPE_2D,
            .format = VK_FORMAT_R8G8B8A8_UNORM,
            .extent = {side, side, 1},
            .mipLevels = 1,
            .arrayLayers = 1,
            .samples = VK_SAMPLE_COUNT_1_BIT,
            .usage = usage};
}

static VkImageView createView(VkImage image)
{
    const VkImageViewCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    VkImageView view;
    checkVulkan(vkCreateImageView(vk.device, &info, nullptr, &view));
    atEnd([=] { vkDestroyImageView(vk.device, view, nullptr); });
    return view;
}

Image createImage(uint32_t side, VkImageUsageFlags usage)
{
    const VkImageCreateInfo info = imageInfo(side, usage);
    VkImage image;
    checkVulkan(vkCreateImage(vk.device, &info, nullptr, &image));
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(vk.device, image, &needs);
    const VkDeviceMemory memory = allocate(needs, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    atEnd([=] { vkDestroyImage(vk.device, image, nullptr); });
    checkVulkan(vkBindImageMemory(vk.device, image, memory, 0));
    return {image, createView(image)};
}

/* ---- Commands ---- */

static void createPool()
{
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = vk.family};
    checkVulkan(vkCreateCommandPool(vk.device, &info, nullptr, &vk.pool));
    atEnd([] { vkDestroyCommandPool(vk.device, vk.pool, nullptr); });
}

VkSemaphore createSemaphore()
{
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkSemaphore made;
    checkVulkan(vkCreateSemaphore(vk.device, &info, nullptr, &made));
    atEnd([=] { vkDestroySemaphore(vk.device, made, nullptr); });
    return made;
}

Frame createFrame()
{
    if (!vk.pool)
        createPool();
    const VkCommandBufferAllocateInfo one = {.sType =
                                                 VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                             .commandPool = vk.pool,
                                             .commandBufferCount = 1};
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
                                     .flags = VK_FENCE_CREATE_SIGNALED_BIT};
    Frame made = {.taken = createSemaphore()};
    checkVulkan(vkAllocateCommandBuffers(vk.device, &one, &made.commands));
    checkVulkan(vkCreateFence(vk.device, &fence, nullptr, &made.done));
    atEnd([=] { vkDestroyFence(vk.device, made.done, nullptr); });
    return made;
}

void beginFrame(const Frame &frame)
{
    checkVulkan(vkWaitForFences(vk.device, 1, &frame.done, VK_TRUE, UINT64_MAX));
    checkVulkan(vkResetFences(vk.device, 1, &frame.done));
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    checkVulkan(vkBeginCommandBuffer(frame.commands, &info));
}

void changeLayout(VkCommandBuffer commands, VkImage image, VkImageLayout from, VkImageLayout to)
{
    const VkImageMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        .srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        .dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    const VkDependencyInfo info = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                   .imageMemoryBarrierCount = 1,
                                   .pImageMemoryBarriers = &barrier};
    vkCmdPipelineBarrier2(commands, &info);
}

void copyToImage(VkCommandBuffer commands, VkBuffer from, VkDeviceSize offset, VkImage to,
                 uint32_t side)
{
    const VkBufferImageCopy all = {.bufferOffset = offset,
                                   .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                   .imageExtent = {side, side, 1}};
    changeLayout(commands, to, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    vkCmdCopyBufferToImage(commands, from, to, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &all);
}

void copyFromImage(VkCommandBuffer commands, VkImage from, VkBuffer to, uint32_t side)
{
    const VkBufferImageCopy all = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                   .imageExtent = {side, side, 1}};
    const VkMemoryBarrier2 barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                      .srcStageMask = VK_PIPELINE_STAGE_2_COPY_BIT,
                                      .srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
                                      .dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT,
                                      .dstAccessMask = VK_ACCESS_2_HOST_READ_BIT};
    const VkDependencyInfo info = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                   .memoryBarrierCount = 1,
                                   .pMemoryBarriers = &barrier};
    vkCmdCopyImageToBuffer(commands, from, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, to, 1, &all);
    vkCmdPipelineBarrier2(commands, &info);
}

void runFrame(const Frame &frame)
{
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &frame.commands};
    checkVulkan(vkEndCommandBuffer(frame.commands));
    checkVulkan(vkQueueSubmit(vk.queue, 1, &info, frame.done));
    checkVulkan(vkWaitForFences(vk.device, 1, &frame.done, VK_TRUE, UINT64_MAX));
}
