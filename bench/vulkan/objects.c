/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Creates the objects that both sides need: a headless Vulkan device on the CUDA device, a stream,
 * and buffers and images with exported memory.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "bench/vulkan/vulkan.h"

bool vkb_vulkan_failed(VkResult result, const char *call)
{
    fprintf(stderr, "bench_vulkan: %s: VkResult %d\n", call, (int)result);
    return false;
}

bool vkb_drain(struct vkb *bench)
{
    if (!bench_cuda_ok(bench->cuda->StreamSynchronize(bench->on.stream), "cuStreamSynchronize"))
        return false;
    return vkb_ok(bench->vk.vkDeviceWaitIdle(bench->handles->device), "vkDeviceWaitIdle");
}

/* ---- The devices ----------------------------------------------------------------------------- */

static bool load_functions(struct vkb *bench)
{
    VkDevice device = bench->handles->device;
    PFN_vkGetDeviceProcAddr get = (PFN_vkGetDeviceProcAddr)bench->handles->get_instance_proc_addr(
        bench->handles->instance, "vkGetDeviceProcAddr");
    const char *missing = !get ? "vkGetDeviceProcAddr" : NULL;
#define LOAD(name)                                                                                 \
    if (!missing && !(bench->vk.name = (PFN_##name)get(device, #name)))                            \
        missing = #name;
    VKB_FUNCTIONS(LOAD)
#undef LOAD
    if (missing)
        fprintf(stderr, "bench_vulkan: the Vulkan driver has no %s\n", missing);
    return !missing;
}

gr_vk_device *vkb_wrap(struct vkb *bench, unsigned transports)
{
    const gr_vk_headless_info *h = bench->handles;
    gr_vk_device *device = gr_vk_device_from_vk(
        &GR_INIT(gr_vk_device_desc, h->get_instance_proc_addr, h->instance, h->physical_device,
                 h->device, h->graphics, h->graphics_family, .transports = transports));
    if (!device)
        bench_grinterop_failed("gr_vk_device_from_vk");
    return device;
}

static bool open_vulkan(struct vkb *bench)
{
    bench->headless =
        gr_vk_headless_create(&GR_INIT(gr_vk_headless_options, .cuda_device = bench->on.ordinal));
    if (!bench->headless)
        return bench_grinterop_failed("gr_vk_headless_create");
    const gr_vk_headless_info *h = bench->handles = gr_vk_headless_get_info(bench->headless);
    if (!load_functions(bench))
        return false;
    PFN_vkGetPhysicalDeviceMemoryProperties get_memory =
        (PFN_vkGetPhysicalDeviceMemoryProperties)h->get_instance_proc_addr(
            h->instance, "vkGetPhysicalDeviceMemoryProperties");
    get_memory(h->physical_device, &bench->memory_types);
    memcpy(bench->queues, (VkQueue[]){h->graphics, h->compute, h->transfer}, sizeof(bench->queues));
    memcpy(bench->families, (uint32_t[]){h->graphics_family, h->compute_family, h->transfer_family},
           sizeof(bench->families));
    bench->wrap = vkb_wrap(bench, GR_TRANSPORT_ANY);
    if (!bench->wrap)
        return false;
    bench->through_host = !gr_vk_device_get_info(bench->wrap)->has_semaphores;
    return true;
}

bool vkb_open(struct vkb *bench)
{
    bench->cuda = gr_cuda();
    if (!bench->cuda)
        return bench_grinterop_failed("gr_cuda");
    bench->points = calloc(VKB_POINTS, sizeof(*bench->points));
    if (!bench->points)
        return bench_out_of_memory();
    return bench_device_open(&bench->on) && open_vulkan(bench) &&
           vkb_make_buffer(bench, &bench->spare_buffer) &&
           vkb_make_image(bench, &bench->spare_image) &&
           vkb_open_raw(bench, &bench->sides[VKB_RAW]) &&
           vkb_open_grinterop(bench, &bench->sides[VKB_GRINTEROP]);
}

void vkb_close(struct vkb *bench)
{
    /* Pending work may still use these objects after an error. */
    if (bench->wrap)
        vkb_drain(bench);
    if (bench->vk.vkWaitSemaphores) {
        vkb_close_sides(bench);
        vkb_end_object(bench, &bench->spare_buffer);
        vkb_end_object(bench, &bench->spare_image);
        bench->vk.vkDestroyCommandPool(bench->handles->device, bench->pool, NULL);
    }
    gr_vk_device_free(bench->wrap);
    gr_vk_headless_free(bench->headless);
    bench_device_close(&bench->on);
    free(bench->points);
    *bench = (struct vkb){0};
}

/* ---- Exported memory ------------------------------------------------------------------------- */

static uint32_t memory_type(const struct vkb *bench, uint32_t allowed)
{
    for (uint32_t i = 0; i < bench->memory_types.memoryTypeCount; i++)
        if ((allowed >> i & 1) && (bench->memory_types.memoryTypes[i].propertyFlags &
                                   VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT))
            return i;
    return 0;
}

/* Allocates memory. Images use dedicated memory, since some drivers require it; buffers do not. */
static bool allocate(struct vkb *bench, struct vkb_object *object,
                     const VkMemoryRequirements *needs)
{
    const VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, .image = object->image};
    const VkExportMemoryAllocateInfo exported = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
        .pNext = object->image != VK_NULL_HANDLE ? &dedicated : NULL,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .pNext = &exported,
                                       .allocationSize = needs->size,
                                       .memoryTypeIndex =
                                           memory_type(bench, needs->memoryTypeBits)};
    object->memory_size = needs->size;
    return vkb_ok(bench->vk.vkAllocateMemory(bench->handles->device, &info, NULL, &object->memory),
                  "vkAllocateMemory");
}

bool vkb_make_buffer(struct vkb *bench, struct vkb_object *object)
{
    VkDevice device = bench->handles->device;
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .pNext = &external,
                                     .size = VKB_BYTES,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    if (!vkb_ok(bench->vk.vkCreateBuffer(device, &info, NULL, &object->buffer), "vkCreateBuffer"))
        return false;
    VkMemoryRequirements needs;
    bench->vk.vkGetBufferMemoryRequirements(device, object->buffer, &needs);
    if (!allocate(bench, object, &needs))
        return false;
    return vkb_ok(bench->vk.vkBindBufferMemory(device, object->buffer, object->memory, 0),
                  "vkBindBufferMemory");
}

const VkImageCreateInfo vkb_image_info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                          .imageType = VK_IMAGE_TYPE_2D,
                                          .format = VK_FORMAT_R8G8B8A8_UNORM,
                                          .extent = {VKB_IMAGE_WIDTH, VKB_IMAGE_HEIGHT, 1},
                                          .mipLevels = 1,
                                          .arrayLayers = 1,
                                          .samples = VK_SAMPLE_COUNT_1_BIT,
                                          .tiling = VK_IMAGE_TILING_OPTIMAL,
                                          .usage = VK_IMAGE_USAGE_STORAGE_BIT |
                                                   VK_IMAGE_USAGE_SAMPLED_BIT |
                                                   VK_IMAGE_USAGE_TRANSFER_SRC_BIT};

bool vkb_make_image(struct vkb *bench, struct vkb_object *object)
{
    VkDevice device = bench->handles->device;
    const VkExternalMemoryImageCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkImageCreateInfo info = vkb_image_info;
    info.pNext = &external;
    if (!vkb_ok(bench->vk.vkCreateImage(device, &info, NULL, &object->image), "vkCreateImage"))
        return false;
    VkMemoryRequirements needs;
    bench->vk.vkGetImageMemoryRequirements(device, object->image, &needs);
    if (!allocate(bench, object, &needs))
        return false;
    return vkb_ok(bench->vk.vkBindImageMemory(device, object->image, object->memory, 0),
                  "vkBindImageMemory");
}

void vkb_end_object(struct vkb *bench, struct vkb_object *object)
{
    VkDevice device = bench->handles->device;
    bench->vk.vkDestroyBuffer(device, object->buffer, NULL);
    bench->vk.vkDestroyImage(device, object->image, NULL);
    bench->vk.vkFreeMemory(device, object->memory, NULL);
    *object = (struct vkb_object){0};
}
