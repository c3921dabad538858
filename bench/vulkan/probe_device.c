/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The Vulkan device, semaphores and command buffers of the probe. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "bench/vulkan/probe.h"

enum { MOST_EXTENSIONS = 32 };

#define INSTANCE_FUNCTION(bench, name)                                                             \
    ((PFN_##name)(bench)->handles->get_instance_proc_addr((bench)->handles->instance, #name))

/* ---- The device ------------------------------------------------------------------------------ */

static bool lists_submit2(const struct vkb *bench)
{
    VkPhysicalDevice device = bench->handles->physical_device;
    PFN_vkEnumerateDeviceExtensionProperties list =
        INSTANCE_FUNCTION(bench, vkEnumerateDeviceExtensionProperties);
    uint32_t count = 0;
    bool found = false;
    if (list(device, NULL, &count, NULL) != VK_SUCCESS || count == 0)
        return false;
    VkExtensionProperties *properties = calloc(count, sizeof(*properties));
    if (properties && list(device, NULL, &count, properties) == VK_SUCCESS)
        for (uint32_t i = 0; i < count; i++)
            found = found || strcmp(properties[i].extensionName,
                                    VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME) == 0;
    free(properties);
    return found;
}

static uint32_t list_queues(const struct vkb *bench, VkDeviceQueueCreateInfo list[VKB_QUEUES])
{
    static const float priority = 1;
    uint32_t n = 0;
    for (unsigned q = 0; q < VKB_QUEUES; q++)
        if (bench->queues[q] != VK_NULL_HANDLE)
            list[n++] =
                (VkDeviceQueueCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                          .queueFamilyIndex = bench->families[q],
                                          .queueCount = 1,
                                          .pQueuePriorities = &priority};
    return n;
}

static bool make_device(struct probe *probe, const struct vkb *bench)
{
    const char *names[MOST_EXTENSIONS + 1];
    uint32_t count = MOST_EXTENSIONS;
    const gr_vk_device_desc device = GR_INIT(
        gr_vk_device_desc, .get_instance_proc_addr = bench->handles->get_instance_proc_addr,
        .instance = bench->handles->instance, .physical_device = bench->handles->physical_device);
    if (gr_vk_device_extensions(&device, names, &count) != GR_OK)
        return bench_grinterop_failed("gr_vk_device_extensions");
    VkPhysicalDeviceSynchronization2FeaturesKHR submit2 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES_KHR,
        .synchronization2 = VK_TRUE};
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .pNext = probe->has_submit2 ? &submit2 : NULL,
        .timelineSemaphore = VK_TRUE};
    if (probe->has_submit2)
        names[count++] = VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME;
    VkDeviceQueueCreateInfo queues[VKB_QUEUES];
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &timeline,
                                     .queueCreateInfoCount = list_queues(bench, queues),
                                     .pQueueCreateInfos = queues,
                                     .enabledExtensionCount = count,
                                     .ppEnabledExtensionNames = names};
    return vkb_ok(INSTANCE_FUNCTION(bench, vkCreateDevice)(bench->handles->physical_device, &info,
                                                           NULL, &probe->handles.device),
                  "vkCreateDevice");
}

static bool load(struct probe *probe)
{
    VkDevice device = probe->handles.device;
    PFN_vkGetDeviceProcAddr get = INSTANCE_FUNCTION(&probe->bench, vkGetDeviceProcAddr);
    PFN_vkGetDeviceQueue get_queue = (PFN_vkGetDeviceQueue)get(device, "vkGetDeviceQueue");
    probe->wait_idle = (PFN_vkQueueWaitIdle)get(device, "vkQueueWaitIdle");
    if (probe->has_submit2)
        probe->submit2 = (PFN_vkQueueSubmit2KHR)get(device, "vkQueueSubmit2KHR");
    for (unsigned q = 0; q < VKB_QUEUES; q++)
        if (probe->bench.queues[q] != VK_NULL_HANDLE)
            get_queue(device, probe->bench.families[q], 0, &probe->bench.queues[q]);
    return vkb_load_functions(&probe->bench);
}

static bool make_plain_semaphore(struct probe *probe, VkSemaphore *semaphore)
{
    const VkSemaphoreTypeCreateInfo timeline = {.sType =
                                                    VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                                .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &timeline};
    return vkb_ok(probe->bench.vk.vkCreateSemaphore(probe->handles.device, &info, NULL, semaphore),
                  "vkCreateSemaphore");
}

bool probe_open(struct probe *probe, const struct vkb *bench)
{
    *probe = (struct probe){.bench = *bench, .handles = *bench->handles};
    memset(probe->bench.sides, 0, sizeof(probe->bench.sides));
    probe->bench.pool = VK_NULL_HANDLE;
    probe->bench.fill = bench->bytes / 2;
    probe->has_submit2 = lists_submit2(bench);
    if (!make_device(probe, bench)) {
        probe->handles.device = VK_NULL_HANDLE;
        return false;
    }
    probe->bench.handles = &probe->handles;
    return load(probe) && make_plain_semaphore(probe, &probe->plain_wait) &&
           make_plain_semaphore(probe, &probe->plain_signal) &&
           vkb_open_raw(&probe->bench, &probe->bench.sides[VKB_RAW]);
}

/* Is called only after success: after a failure, work may still be pending. */
void probe_close(struct probe *probe)
{
    struct vkb *bench = &probe->bench;
    struct vkb_side *side = &bench->sides[VKB_RAW];
    VkDevice device = probe->handles.device;
    bench->vk.vkDestroyCommandPool(device, probe->pool, NULL);
    bench->vk.vkDestroySemaphore(device, probe->plain_wait, NULL);
    bench->vk.vkDestroySemaphore(device, probe->plain_signal, NULL);
    vkb_close_raw(bench, side);
    for (unsigned i = 0; i < VKB_RESOURCES; i++)
        vkb_end_object(bench, &side->buffers[i]);
    INSTANCE_FUNCTION(bench, vkDestroyDevice)(device, NULL);
}

/* ---- Command buffers ------------------------------------------------------------------------- */

static bool record(struct probe *probe, enum probe_content content, unsigned i)
{
    struct vkb *bench = &probe->bench;
    VkCommandBuffer commands = probe->commands[content][i];
    const VkBuffer buffer = bench->sides[VKB_RAW].buffers[i % VKB_RESOURCES].buffer;
    const VkDeviceSize half = bench->bytes / 2;
    const VkBufferCopy region = {.dstOffset = half, .size = content == PROBE_WORD ? 4 : half};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    uint32_t family = bench->families[probe->queue];
    if (!vkb_ok(bench->vk.vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer"))
        return false;
    if (content == PROBE_HANDED)
        vkb_barrier_raw(bench, commands, buffer, family, false);
    if (content != PROBE_EMPTY)
        bench->vk.vkCmdCopyBuffer(commands, buffer, buffer, 1, &region);
    if (content == PROBE_HANDED)
        vkb_barrier_raw(bench, commands, buffer, family, true);
    return vkb_ok(bench->vk.vkEndCommandBuffer(commands), "vkEndCommandBuffer");
}

bool probe_choose_queue(struct probe *probe, enum vkb_queue queue)
{
    struct vkb *bench = &probe->bench;
    VkDevice device = probe->handles.device;
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = bench->families[queue]};
    probe->queue = queue;
    bench->vk.vkDestroyCommandPool(device, probe->pool, NULL);
    probe->pool = VK_NULL_HANDLE;
    if (!vkb_ok(bench->vk.vkCreateCommandPool(device, &info, NULL, &probe->pool),
                "vkCreateCommandPool"))
        return false;
    const VkCommandBufferAllocateInfo wanted = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = probe->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = PROBE_CONTENTS * PROBE_COPIES};
    if (!vkb_ok(bench->vk.vkAllocateCommandBuffers(device, &wanted, &probe->commands[0][0]),
                "vkAllocateCommandBuffers"))
        return false;
    for (unsigned content = 0; content < PROBE_CONTENTS; content++)
        for (unsigned i = 0; i < PROBE_COPIES; i++)
            if (!record(probe, (enum probe_content)content, i))
                return false;
    return true;
}
