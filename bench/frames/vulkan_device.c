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
    X(VK_ERROR_UNKNOWN)                                                                            \
    X(VK_ERROR_SURFACE_LOST_KHR)                                                                   \
    X(VK_ERROR_NATIVE_WINDOW_IN_USE_KHR)                                                           \
    X(VK_ERROR_OUT_OF_DATE_KHR)

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

static void print_message(void *user, const char *text)
{
    struct vulkan *vulkan = user;
    vulkan->messages++;
    fprintf(stderr, "Vulkan validation layer: %s\n", text);
}

bool vulkan_found(PFN_vkVoidFunction function, const char *name)
{
    if (!function)
        fprintf(stderr, "This Vulkan has no %s.\n", name);
    return function;
}

/* Loads the functions. Device functions are called directly, without the dispatch of the loader. */
static bool find_functions(struct vulkan *v, const gr_vk_device_desc *on)
{
    const PFN_vkGetInstanceProcAddr of_instance = on->get_instance_proc_addr;
    const PFN_vkGetDeviceProcAddr of_device =
        (PFN_vkGetDeviceProcAddr)of_instance(on->instance, "vkGetDeviceProcAddr");
    bool found = vulkan_found((PFN_vkVoidFunction)of_device, "vkGetDeviceProcAddr");
    if (!found)
        return false;
#define VULKAN_FIND(name)                                                                          \
    found = VULKAN_FIND_ONE(v, name, of_device(on->device, "vk" #name)) && found;
    VULKAN_FUNCTIONS(VULKAN_FIND)
#undef VULKAN_FIND
#define VULKAN_FIND(name)                                                                          \
    found = VULKAN_FIND_ONE(v, name, of_instance(on->instance, "vk" #name)) && found;
    VULKAN_INSTANCE_FUNCTIONS(VULKAN_FIND)
#undef VULKAN_FIND
    return found;
}

/*
 * Chooses a queue family for `kind`. False if the device has no dedicated family: the graphics
 * queue is then used.
 */
static bool choose_queue(struct vulkan *v, const gr_vk_headless_info *on, enum vulkan_queue kind)
{
    const VkQueue queues[] = {on->graphics, on->compute, on->transfer};
    const uint32_t families[] = {on->graphics_family, on->compute_family, on->transfer_family};
    const bool own = queues[kind] != VK_NULL_HANDLE;
    v->queue = own ? queues[kind] : on->graphics;
    v->family = own ? families[kind] : on->graphics_family;
    return own;
}

static void introduce(const struct vulkan *v, enum vulkan_queue kind, bool own, bool validate)
{
    static const char *const names[] = {"graphics", "compute", "transfer"};
    printf("device   %s%s\n", gr_vk_device_get_info(v->shared)->description,
           validate ? "; under the validation layer" : "");
    printf("queue    %s, of family %u", own ? names[kind] : "graphics", v->family);
    if (own)
        printf("\n");
    else
        printf(": the device has no family for %s alone\n", names[kind]);
}

/* Creates the objects of a device. The caller may have created the device in any way. */
static bool begin(struct vulkan *v, const gr_vk_device_desc *device)
{
    v->physical_device = device->physical_device;
    v->device = device->device;
    if (!find_functions(v, device))
        return false;
    v->shared = gr_vk_device_wrap(device);
    if (!v->shared)
        return failed_to("share the Vulkan device with CUDA");

    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = v->family};
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    return vulkan_ok(v->CreateCommandPool(v->device, &pool, NULL, &v->pool),
                     "make command buffers") &&
           vulkan_ok(v->CreateFence(v->device, &fence, NULL, &v->fence), "make a fence");
}

bool vulkan_open(struct vulkan *v, enum vulkan_queue kind, bool validate, unsigned transports)
{
    return vulkan_open_on(v, 0, kind, validate, transports);
}

bool vulkan_open_on(struct vulkan *v, int cuda_device, enum vulkan_queue kind, bool validate,
                    unsigned transports)
{
    *v = (struct vulkan){0};
    const gr_vk_headless_options options =
        GR_INIT(gr_vk_headless_options, .cuda_device = cuda_device, .validation = validate,
                .message = print_message, .user = v);
    v->headless = gr_vk_headless_create(&options);
    if (!v->headless)
        return failed_to("open Vulkan");
    const gr_vk_headless_info *on = gr_vk_headless_get(v->headless);
    const bool own = choose_queue(v, on, kind);
    const gr_vk_device_desc device =
        GR_INIT(gr_vk_device_desc, .get_instance_proc_addr = on->get_instance_proc_addr,
                .instance = on->instance, .physical_device = on->physical_device,
                .device = on->device, .queue = v->queue, .queue_family = v->family,
                .synchronization2 = on->synchronization2, .transports = transports);
    if (!begin(v, &device))
        return false;
    introduce(v, kind, own, validate);
    return true;
}

bool vulkan_open_own(struct vulkan *v, const gr_vk_device_desc *device)
{
    *v = (struct vulkan){.queue = device->queue, .family = device->queue_family};
    if (!begin(v, device))
        return false;
    introduce(v, VULKAN_GRAPHICS, true, false);
    return true;
}

bool vulkan_close(struct vulkan *v)
{
    if (v->fence != VK_NULL_HANDLE)
        v->DestroyFence(v->device, v->fence, NULL);
    if (v->pool != VK_NULL_HANDLE)
        v->DestroyCommandPool(v->device, v->pool, NULL);
    gr_vk_device_free(v->shared);
    gr_vk_headless_free(v->headless);
    return v->messages == 0;
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

bool vulkan_wait(const struct vulkan *v)
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
           vulkan_wait(v);
}
