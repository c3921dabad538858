/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Vulkan timers, and the offset of the Vulkan clock to CLOCK_MONOTONIC. After each frame a separate
 * command buffer writes a timestamp. VK_EXT_calibrated_timestamps reads both clocks at once, but
 * must be enabled on the device, so a second device is opened for it. Without the extension a timer
 * is submitted between two readings of CLOCK_MONOTONIC.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "bench/frames/vulkan.h"
#include "bench/latency/latency.h"

#define FUNCTIONS(X)                                                                               \
    X(CreateQueryPool)                                                                             \
    X(DestroyQueryPool)                                                                            \
    X(CmdResetQueryPool)                                                                           \
    X(CmdWriteTimestamp)                                                                           \
    X(GetQueryPoolResults)                                                                         \
    X(FreeCommandBuffers)

enum { CALIBRATIONS = 64, SUBMITS = 32 };

struct latency_vulkan {
    const struct vulkan *on;
    double period; /* nanoseconds per tick */
    uint64_t mask; /* the valid bits of a timer */
    VkQueryPool pool;
    VkCommandBuffer reset, stamps[LATENCY_MOST_FRAMES + 1]; /* the last one reads the clock */
    /* the second device, or VK_NULL_HANDLE if it is not available */
    VkDevice calibrated;
    PFN_vkDestroyDevice destroy;
    PFN_vkGetCalibratedTimestampsEXT read_both;
#define MEMBER(name) PFN_vk##name name;
    FUNCTIONS(MEMBER)
#undef MEMBER
};

/* ---- Opening --------------------------------------------------------------------------------- */

static bool find_functions(struct latency_vulkan *k, const gr_vk_headless_info *on)
{
    const PFN_vkGetDeviceProcAddr of_device =
        (PFN_vkGetDeviceProcAddr)on->get_instance_proc_addr(on->instance, "vkGetDeviceProcAddr");
    bool good = true;
#define FIND(name)                                                                                 \
    k->name = (PFN_vk##name)of_device(on->device, "vk" #name);                                     \
    good = good && k->name;
    FUNCTIONS(FIND)
#undef FIND
    return good;
}

static bool find_clock(struct latency_vulkan *k, const gr_vk_headless_info *on)
{
    VkPhysicalDeviceProperties device;
    VkQueueFamilyProperties families[16];
    uint32_t count = 16;
    k->on->GetPhysicalDeviceProperties(on->physical_device, &device);
    PFN_vkGetPhysicalDeviceQueueFamilyProperties list =
        (PFN_vkGetPhysicalDeviceQueueFamilyProperties)on->get_instance_proc_addr(
            on->instance, "vkGetPhysicalDeviceQueueFamilyProperties");
    list(on->physical_device, &count, families);
    const uint32_t bits = k->on->family < count ? families[k->on->family].timestampValidBits : 0;
    k->period = (double)device.limits.timestampPeriod;
    k->mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    return bits != 0;
}

static bool has_calibration(const gr_vk_headless_info *on)
{
    PFN_vkEnumerateDeviceExtensionProperties list =
        (PFN_vkEnumerateDeviceExtensionProperties)on->get_instance_proc_addr(
            on->instance, "vkEnumerateDeviceExtensionProperties");
    uint32_t count = 0;
    if (list(on->physical_device, NULL, &count, NULL) != VK_SUCCESS)
        return false;
    VkExtensionProperties *all = calloc(count, sizeof(*all));
    bool found = false;
    if (all && list(on->physical_device, NULL, &count, all) == VK_SUCCESS)
        for (uint32_t i = 0; i < count && !found; i++)
            found = strcmp(all[i].extensionName, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME) == 0;
    free(all);
    return found;
}

/* Opens the second device. All devices on one GPU read the same clock. */
static void open_calibrated(struct latency_vulkan *k, const gr_vk_headless_info *on)
{
    const float priority = 1;
    const char *const extension = VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = k->on->family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = 1,
                                     .ppEnabledExtensionNames = &extension};
    PFN_vkCreateDevice create =
        (PFN_vkCreateDevice)on->get_instance_proc_addr(on->instance, "vkCreateDevice");
    const PFN_vkGetDeviceProcAddr of_device =
        (PFN_vkGetDeviceProcAddr)on->get_instance_proc_addr(on->instance, "vkGetDeviceProcAddr");
    if (!has_calibration(on) ||
        create(on->physical_device, &info, NULL, &k->calibrated) != VK_SUCCESS)
        return;
    k->destroy = (PFN_vkDestroyDevice)of_device(k->calibrated, "vkDestroyDevice");
    k->read_both =
        (PFN_vkGetCalibratedTimestampsEXT)of_device(k->calibrated, "vkGetCalibratedTimestampsEXT");
}

/* Records one timer per frame, and one for the clock. */
static bool record(struct latency_vulkan *k)
{
    for (uint32_t i = 0; i <= LATENCY_MOST_FRAMES; i++) {
        k->stamps[i] = vulkan_record(k->on, 0);
        if (!k->stamps[i])
            return false;
        if (i == LATENCY_MOST_FRAMES)
            k->CmdResetQueryPool(k->stamps[i], k->pool, i, 1);
        k->CmdWriteTimestamp(k->stamps[i], VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, k->pool, i);
        if (k->on->EndCommandBuffer(k->stamps[i]) != VK_SUCCESS)
            return false;
    }
    k->reset = vulkan_record(k->on, 0);
    if (!k->reset)
        return false;
    k->CmdResetQueryPool(k->reset, k->pool, 0, LATENCY_MOST_FRAMES);
    return k->on->EndCommandBuffer(k->reset) == VK_SUCCESS;
}

bool latency_vulkan_open(struct latency *l)
{
    if (!l->frames.vulkan)
        return true;
    struct latency_vulkan *k = l->vulkan = calloc(1, sizeof(*k));
    const VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                        .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                        .queryCount = LATENCY_MOST_FRAMES + 1};
    if (!k) {
        frames_set_error("out of memory");
        return false;
    }
    k->on = &l->frames.vulkan->vulkan;
    const gr_vk_headless_info *on = gr_vk_headless_get(k->on->headless);
    frames_set_error("Vulkan has no timers here");
    if (!find_functions(k, on) || !find_clock(k, on) ||
        k->CreateQueryPool(on->device, &info, NULL, &k->pool) != VK_SUCCESS || !record(k))
        return false;
    open_calibrated(k, on);
    frames_set_error("%s", "");
    return true;
}

void latency_vulkan_close(struct latency *l)
{
    struct latency_vulkan *k = l->vulkan;
    if (!k)
        return;
    if (k->destroy)
        k->destroy(k->calibrated, NULL);
    if (k->pool != VK_NULL_HANDLE)
        k->DestroyQueryPool(k->on->device, k->pool, NULL);
    free(k);
    l->vulkan = NULL;
}

/* ---- Timers of frames ------------------------------------------------------------------------ */

bool latency_vulkan_prepare(struct latency *l, unsigned frames)
{
    (void)frames;
    const bool good = vulkan_run(l->vulkan->on, l->vulkan->reset);
    if (!good)
        frames_set_error("cannot reset the Vulkan timers");
    l->frames.vulkan->stamps = good ? l->vulkan->stamps : NULL;
    return good;
}

static uint64_t nanoseconds(const struct latency_vulkan *k, uint64_t ticks)
{
    const uint64_t value = ticks & k->mask;
    return k->period == 1 ? value : (uint64_t)((double)value * k->period);
}

static bool take(const struct latency_vulkan *k, uint32_t first, uint32_t count, uint64_t values[])
{
    const VkResult result = k->GetQueryPoolResults(
        k->on->device, k->pool, first, count, count * sizeof(*values), values, sizeof(*values),
        VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    for (uint32_t i = 0; i < count; i++)
        values[i] = nanoseconds(k, values[i]);
    if (result != VK_SUCCESS)
        frames_set_error("vkGetQueryPoolResults: VkResult %d", (int)result);
    return result == VK_SUCCESS;
}

bool latency_vulkan_take(struct latency *l, unsigned frames)
{
    l->frames.vulkan->stamps = NULL;
    return frames == 0 || take(l->vulkan, 0, frames, l->drawn);
}

/* ---- The clock ------------------------------------------------------------------------------- */

/* Reads both clocks several times and keeps the reading with the smallest deviation. */
static bool calibrate(const struct latency_vulkan *k, struct latency_offset *offset)
{
    const VkCalibratedTimestampInfoEXT both[2] = {
        {.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT,
         .timeDomain = VK_TIME_DOMAIN_DEVICE_EXT},
        {.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT,
         .timeDomain = VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT},
    };
    bool found = false;
    for (int i = 0; i < CALIBRATIONS; i++) {
        uint64_t values[2], deviation = 0;
        if (k->read_both(k->calibrated, 2, both, values, &deviation) != VK_SUCCESS)
            continue;
        const int64_t value = (int64_t)nanoseconds(k, values[0]);
        if (!found || (int64_t)deviation < offset->uncertain)
            *offset =
                (struct latency_offset){value, value - (int64_t)values[1], (int64_t)deviation};
        found = true;
    }
    if (!found)
        frames_set_error("vkGetCalibratedTimestampsEXT failed");
    return found;
}

bool latency_vulkan_clock(struct latency *l, struct latency_offset *offset)
{
    const struct latency_vulkan *k = l->vulkan;
    struct latency_reading readings[SUBMITS];
    if (k->read_both)
        return calibrate(k, offset);
    for (size_t i = 0; i < SUBMITS; i++) {
        uint64_t value;
        readings[i].low = latency_now();
        if (!vulkan_run(k->on, k->stamps[LATENCY_MOST_FRAMES])) {
            frames_set_error("cannot submit the Vulkan timer");
            return false;
        }
        readings[i].high = latency_now();
        if (!take(k, LATENCY_MOST_FRAMES, 1, &value))
            return false;
        readings[i].value = (int64_t)value;
    }
    *offset = latency_offset_of(readings, SUBMITS);
    l->step[LATENCY_VULKAN] = latency_step_of(readings, SUBMITS);
    return true;
}

const char *latency_vulkan_clock_name(const struct latency *l)
{
    return l->vulkan && l->vulkan->read_both ? "VK_EXT_calibrated_timestamps" : "a submit";
}
