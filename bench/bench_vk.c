/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The Vulkan device of the benchmarks, and its objects. */
#define _GNU_SOURCE
#include "bench/bench_vk.h"

#include <string.h>
#include <unistd.h>

#include "tests/support/own_vulkan.h"

struct bench_vk bench_vk;

void bench_fail_vk(VkResult result, const char *call)
{
    bench_fail("%s: VkResult %d", call, (int)result);
}

#define DEFINE_END(Object)                                                                         \
    void bench_vk_end_##Object(void *object)                                                       \
    {                                                                                              \
        bench_vk.Destroy##Object(bench_vk.on.device, object, NULL);                                \
    }
BENCH_VK_OBJECTS(DEFINE_END)

/* ---- The device ------------------------------------------------------------------------------ */

#define OF_INSTANCE(name) OWN_VULKAN(&bench_vk.on, name)

static void find_functions(void)
{
    const PFN_vkGetDeviceProcAddr of_device = OF_INSTANCE(vkGetDeviceProcAddr);
    const char *missing = NULL;
    if (!of_device)
        bench_fail("the Vulkan driver has no vkGetDeviceProcAddr");
#define FIND(name) bench_vk.name = (PFN_vk##name)of_device(bench_vk.on.device, "vk" #name);
#define FIND_NEEDED(name)                                                                          \
    FIND(name)                                                                                     \
    if (!bench_vk.name)                                                                            \
        missing = "vk" #name;
#define FIND_BOTH(name) FIND_NEEDED(Create##name) FIND_NEEDED(Destroy##name)
    BENCH_VK_FUNCTIONS(FIND_NEEDED)
    BENCH_VK_OBJECTS(FIND_BOTH)
    bench_vk.GetPhysicalDeviceMemoryProperties = OF_INSTANCE(vkGetPhysicalDeviceMemoryProperties);
    BENCH_VK_EXPORTS(FIND)
    if (missing)
        bench_fail("the Vulkan driver has no %s", missing);
}

void bench_vk_open(int cuda_device)
{
    GR_NEW(bench_vk.headless, vk_headless_create,
           &GR_INIT(gr_vk_headless_options, .cuda_device = cuda_device));
    const gr_vk_headless_info *h = gr_vk_headless_get_info(bench_vk.headless);
    bench_vk.on = GR_INIT(gr_vk_device_desc, .get_instance_proc_addr = h->get_instance_proc_addr,
                          .instance = h->instance, .physical_device = h->physical_device,
                          .device = h->device);
    bench_vk.synchronization2 = h->synchronization2;
    bench_vk.queues[BENCH_GRAPHICS] = (struct bench_vk_queue){h->graphics, h->graphics_family, 0};
    bench_vk.queues[BENCH_COMPUTE] = (struct bench_vk_queue){h->compute, h->compute_family, 0};
    bench_vk.queues[BENCH_TRANSFER] = (struct bench_vk_queue){h->transfer, h->transfer_family, 0};
    find_functions();
}

void bench_vk_close(void)
{
    gr_vk_headless_free(bench_vk.headless);
    memset(&bench_vk, 0, sizeof(bench_vk));
}

gr_vk_device *bench_vk_wrap(const struct bench_vk_queue *queue, unsigned transports,
                            bool synchronization2)
{
    gr_vk_device_desc desc = bench_vk.on;
    gr_vk_device *device;
    desc.queue = queue->queue;
    desc.queue_family = queue->family;
    desc.transports = transports;
    desc.synchronization2 = synchronization2 && bench_vk.synchronization2;
    GR_KEEP(device, vk_device_from_vk, &desc);
    return device;
}

/* ---- Commands -------------------------------------------------------------------------------- */

static void forget_pool(void *queue)
{
    ((struct bench_vk_queue *)queue)->pool = VK_NULL_HANDLE;
}

VkCommandBuffer bench_vk_record(struct bench_vk_queue *queue, VkCommandBufferUsageFlags usage)
{
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = queue->family};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = usage};
    VkCommandBuffer commands;
    if (queue->pool == VK_NULL_HANDLE) {
        VK_KEEP(CommandPool, &pool, &queue->pool);
        bench_later(forget_pool, queue);
    }
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = queue->pool,
                                              .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                              .commandBufferCount = 1};
    VK(AllocateCommandBuffers, bench_vk.on.device, &info, &commands);
    VK(BeginCommandBuffer, commands, &begin);
    return commands;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void end_memory(void *memory)
{
    bench_vk.FreeMemory(bench_vk.on.device, memory, NULL);
}

static void allocate(struct bench_vk_object *object, const VkMemoryRequirements *needs,
                     VkMemoryPropertyFlags properties, bool exported)
{
    const VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, .image = object->image};
    const VkExportMemoryAllocateInfo export = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
        .pNext = object->image != VK_NULL_HANDLE ? &dedicated : NULL,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkPhysicalDeviceMemoryProperties has;
    bench_vk.GetPhysicalDeviceMemoryProperties(bench_vk.on.physical_device, &has);
    uint32_t type = 0;
    while (type < has.memoryTypeCount &&
           (!(needs->memoryTypeBits >> type & 1) ||
            (has.memoryTypes[type].propertyFlags & properties) != properties))
        type++;
    if (type == has.memoryTypeCount)
        bench_fail("Vulkan has no memory of the required type");
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .pNext = exported ? &export : NULL,
                                       .allocationSize = needs->size,
                                       .memoryTypeIndex = type};
    object->memory_size = needs->size;
    VK(AllocateMemory, bench_vk.on.device, &info, NULL, &object->memory);
    bench_later(end_memory, object->memory);
}

struct bench_vk_object bench_vk_buffer(VkDeviceSize size, VkBufferUsageFlags usage, bool exported)
{
    const VkDevice device = bench_vk.on.device;
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .pNext = exported ? &external : NULL,
                                     .size = size,
                                     .usage = usage};
    struct bench_vk_object object = {0};
    VkMemoryRequirements needs;
    VK_KEEP(Buffer, &info, &object.buffer);
    bench_vk.GetBufferMemoryRequirements(device, object.buffer, &needs);
    allocate(&object, &needs,
             exported ? VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
                      : VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
             exported);
    VK(BindBufferMemory, device, object.buffer, object.memory, 0);
    if (!exported)
        VK(MapMemory, device, object.memory, 0, size, 0, &object.bytes);
    return object;
}

VkImageCreateInfo bench_vk_image_info(VkFormat format, uint32_t width, uint32_t height,
                                      VkImageUsageFlags usage)
{
    return (VkImageCreateInfo){.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                               .imageType = VK_IMAGE_TYPE_2D,
                               .format = format,
                               .extent = {width, height, 1},
                               .mipLevels = 1,
                               .arrayLayers = 1,
                               .samples = VK_SAMPLE_COUNT_1_BIT,
                               .usage = usage};
}

struct bench_vk_object bench_vk_image(const VkImageCreateInfo *like, bool exported)
{
    const VkDevice device = bench_vk.on.device;
    const VkExternalMemoryImageCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkImageCreateInfo info = *like;
    struct bench_vk_object object = {0};
    VkMemoryRequirements needs;
    info.pNext = exported ? &external : NULL;
    VK_KEEP(Image, &info, &object.image);
    bench_vk.GetImageMemoryRequirements(device, object.image, &needs);
    allocate(&object, &needs, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, exported);
    VK(BindImageMemory, device, object.image, object.memory, 0);
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = object.image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = like->format,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
    if (!exported)
        VK_KEEP(ImageView, &view, &object.view);
    return object;
}

/* ---- Timeline semaphores --------------------------------------------------------------------- */

VkSemaphore bench_vk_timeline(bool exported)
{
    const VkExportSemaphoreCreateInfo export = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .pNext = exported ? &export : NULL,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    VkSemaphore semaphore;
    VK_KEEP(Semaphore, &info, &semaphore);
    return semaphore;
}

int bench_vk_export(VkSemaphore semaphore)
{
    const VkSemaphoreGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                          .semaphore = semaphore,
                                          .handleType =
                                              VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    int fd;
    if (!bench_vk.GetSemaphoreFdKHR)
        bench_fail("Vulkan exports no timeline semaphores here");
    VK(GetSemaphoreFdKHR, bench_vk.on.device, &info, &fd);
    return fd;
}

BENCH_CUDA_END(end_import, DestroyExternalSemaphore)

CUexternalSemaphore bench_import_timeline(int fd)
{
    const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc = {
        .type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD, .handle.fd = fd};
    CUexternalSemaphore semaphore;
    const CUresult result = bench_cuda->ImportExternalSemaphore(&semaphore, &desc);
    if (result != CUDA_SUCCESS)
        close(fd); /* A failed import does not take ownership of the descriptor. */
    bench_check_cuda(result, "cuImportExternalSemaphore");
    bench_later(end_import, semaphore);
    return semaphore;
}
