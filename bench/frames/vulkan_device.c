/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A Vulkan device that CUDA shares, its functions, and submits. */
#include "bench/frames/vulkan_device.h"

#include <stdint.h>
#include <stdio.h>

#include "examples/support/session.h"

#define RESULT_NAMES(X)                                                                            \
    X(VK_TIMEOUT)                                                                                  \
    X(VK_ERROR_OUT_OF_HOST_MEMORY)                                                                 \
    X(VK_ERROR_OUT_OF_DEVICE_MEMORY)                                                               \
    X(VK_ERROR_INITIALIZATION_FAILED)                                                              \
    X(VK_ERROR_DEVICE_LOST)                                                                        \
    X(VK_ERROR_MEMORY_MAP_FAILED)                                                                  \
    X(VK_ERROR_FORMAT_NOT_SUPPORTED)                                                               \
    X(VK_ERROR_UNKNOWN)

static const char *name_of(VkResult result)
{
    switch ((int)result) {
#define RESULT_CASE(name)                                                                          \
    case name:                                                                                     \
        return #name;
        RESULT_NAMES(RESULT_CASE)
#undef RESULT_CASE
    }
    return "an error";
}

bool vulkan_ok(VkResult result, const char *doing)
{
    if (result != VK_SUCCESS)
        fprintf(stderr, "Cannot %s: Vulkan reports %s (%d).\n", doing, name_of(result),
                (int)result);
    return result == VK_SUCCESS;
}

static bool found_one(PFN_vkVoidFunction function, const char *name)
{
    if (!function)
        fprintf(stderr, "This Vulkan has no %s.\n", name);
    return function;
}

#define FIND(object, name, function)                                                               \
    found_one((PFN_vkVoidFunction)((object)->name = (PFN_vk##name)(function)), "vk" #name)

/* Loads the functions. Device functions are called directly, without the dispatch of the loader. */
static bool find_functions(struct vulkan *v, const gr_vk_device_desc *on)
{
    const PFN_vkGetInstanceProcAddr of_instance = on->get_instance_proc_addr;
    const PFN_vkGetDeviceProcAddr of_device =
        (PFN_vkGetDeviceProcAddr)of_instance(on->instance, "vkGetDeviceProcAddr");
    bool found = found_one((PFN_vkVoidFunction)of_device, "vkGetDeviceProcAddr");
    if (!found)
        return false;
#define VULKAN_FIND(name) found = FIND(v, name, of_device(on->device, "vk" #name)) && found;
    VULKAN_FUNCTIONS(VULKAN_FIND)
#undef VULKAN_FIND
#define VULKAN_FIND(name) found = FIND(v, name, of_instance(on->instance, "vk" #name)) && found;
    VULKAN_INSTANCE_FUNCTIONS(VULKAN_FIND)
#undef VULKAN_FIND
    return found;
}

/* Creates the objects of a device. The caller may have created the device in any way. */
static bool begin(struct vulkan *v, const gr_vk_device_desc *device)
{
    v->physical_device = device->physical_device;
    v->device = device->device;
    if (!find_functions(v, device))
        return false;
    v->shared = gr_vk_device_from_vk(device);
    if (!v->shared)
        return failed_to("share the Vulkan device with CUDA");

    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = v->family};
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    printf("device   %s\nqueue    of family %u\n", gr_vk_device_get_info(v->shared)->description,
           v->family);
    return vulkan_ok(v->CreateCommandPool(v->device, &pool, NULL, &v->pool),
                     "make command buffers") &&
           vulkan_ok(v->CreateFence(v->device, &fence, NULL, &v->fence), "make a fence");
}

bool vulkan_open_on(struct vulkan *v, int cuda_device)
{
    *v = (struct vulkan){0};
    v->headless =
        gr_vk_headless_create(&GR_INIT(gr_vk_headless_options, .cuda_device = cuda_device));
    if (!v->headless)
        return failed_to("open Vulkan");
    const gr_vk_headless_info *on = gr_vk_headless_get_info(v->headless);
    v->queue = on->graphics;
    v->family = on->graphics_family;
    return begin(v,
                 &GR_INIT(gr_vk_device_desc, .get_instance_proc_addr = on->get_instance_proc_addr,
                          .instance = on->instance, .physical_device = on->physical_device,
                          .device = on->device, .queue = v->queue, .queue_family = v->family,
                          .synchronization2 = on->synchronization2));
}

bool vulkan_open_own(struct vulkan *v, const gr_vk_device_desc *device)
{
    *v = (struct vulkan){.queue = device->queue, .family = device->queue_family};
    return begin(v, device);
}

void vulkan_close(struct vulkan *v)
{
    if (v->fence != VK_NULL_HANDLE)
        v->DestroyFence(v->device, v->fence, NULL);
    if (v->pool != VK_NULL_HANDLE)
        v->DestroyCommandPool(v->device, v->pool, NULL);
    gr_vk_device_free(v->shared);
    gr_vk_headless_free(v->headless);
}

VkCommandBuffer vulkan_record(const struct vulkan *v, VkCommandBufferUsageFlags usage)
{
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = v->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = usage};
    VkCommandBuffer commands = NULL;
    if (!vulkan_ok(v->AllocateCommandBuffers(v->device, &info, &commands),
                   "make a command buffer") ||
        !vulkan_ok(v->BeginCommandBuffer(commands, &begin), "record commands"))
        return NULL;
    return commands;
}

static bool wait_for(const struct vulkan *v)
{
    const uint64_t long_enough = UINT64_C(60000000000);
    return vulkan_ok(v->WaitForFences(v->device, 1, &v->fence, VK_TRUE, long_enough),
                     "wait for Vulkan") &&
           vulkan_ok(v->ResetFences(v->device, 1, &v->fence), "use a fence again");
}

bool vulkan_run(const struct vulkan *v, VkCommandBuffer commands)
{
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
    };
    return vulkan_ok(v->QueueSubmit(v->queue, 1, &info, v->fence), "submit commands") &&
           wait_for(v);
}
