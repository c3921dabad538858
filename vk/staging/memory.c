/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Memory that CUDA and a Vulkan device copy from and to. For GR_TRANSPORT_PEER it is memory of the
 * Vulkan device, so that nothing passes through host memory. For GR_TRANSPORT_COPY memory of the
 * process is tried first, registered with CUDA and imported by Vulkan: CUDA copies from and to it
 * at full speed. Vulkan memory registered with CUDA works without VK_EXT_external_memory_host.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cuda/driver.h"
#include "lib/base/log.h"
#include "lib/base/machine.h"
#include "lib/base/error.h"
#include "vk/staging/staging.h"

#define HOST_HANDLE VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT

/* Slots start at multiples of this, which suits kernels and each size of a texel. */
#define SLOT_ALIGNMENT ((size_t)256)

/* The maximum number of queue families that share the buffer. No known device has more. */
#define MOST_FAMILIES 16

static size_t rounded(size_t size, size_t alignment)
{
    return (size + alignment - 1) / alignment * alignment;
}

static unsigned char *aligned(void *memory, size_t alignment)
{
    return (unsigned char *)memory + (alignment - (uintptr_t)memory % alignment) % alignment;
}

/* ---- The Vulkan buffer ----------------------------------------------------------------------- */

static gr_status make_buffer(struct vk_staging_memory *s, VkDeviceSize size, const void *chain)
{
    const gr_vk_device *device = s->binding.device;
    VkBuffer *buffer = &s->binding.buffer;
    uint32_t families[MOST_FAMILIES];
    uint32_t count = device->family_count < MOST_FAMILIES ? device->family_count : MOST_FAMILIES;
    for (uint32_t i = 0; i < count; i++)
        families[i] = i;
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .pNext = chain,
        .size = size,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        .sharingMode = count > 1 ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
        .queueFamilyIndexCount = count > 1 ? count : 0,
        .pQueueFamilyIndices = families,
    };
    VkResult result = device->vk.vkCreateBuffer(device->device, &info, NULL, buffer);
    if (result == VK_SUCCESS)
        return GR_OK;
    *buffer = VK_NULL_HANDLE;
    return vk_fail(result, "vkCreateBuffer", "A buffer of %llu byte%s for copies was refused.",
                   (unsigned long long)size, gr_s(size));
}

/*
 * Prefers cached memory, because the CPU may read the memory, and memory that is not on the device,
 * because CUDA would access device memory slowly, over the bus.
 */
static gr_status allocate_and_bind(struct vk_staging_memory *s, VkDeviceSize size, uint32_t types,
                                   const void *chain)
{
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = chain,
        .allocationSize = size,
        .memoryTypeIndex = vk_memory_type(
            s->binding.device, types,
            VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
            VK_MEMORY_PROPERTY_HOST_CACHED_BIT, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT),
    };
    if (info.memoryTypeIndex == UINT32_MAX)
        return gr_fail(GR_ERR_VULKAN,
                       "The device has no host-visible and coherent memory among the types 0x%x.",
                       types);
    return vk_memory_bind(&s->binding, &info, 0,
                          chain ? "Imported host memory for copies" : "Host memory for copies");
}

/* ---- Memory of the Vulkan device ------------------------------------------------------------- */

static gr_status share_memory(struct vk_staging_memory *s, size_t size)
{
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = GR_VK_MEMORY_HANDLE};
    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC whole = {.size = size};
    CUdeviceptr ptr = 0;
    GR_TRY(make_buffer(s, size, &external));
    GR_TRY(vk_memory_allocate(&s->binding, 0, false));
    s->way = VK_STAGING_PEER;
    s->import = vk_memory_import_whole(&s->binding);
    if (!s->import)
        return gr_last_error()->status;
    GR_TRY_CUDA(gr_driver()->ExternalMemoryGetMappedBuffer(&ptr, s->import->handle, &whole),
                "cuExternalMemoryGetMappedBuffer",
                "%zu byte%s of Vulkan memory for copies could not be mapped.", size, gr_s(size));
    s->bytes = (unsigned char *)(uintptr_t)ptr;
    return GR_OK;
}

/* ---- Memory of the process ------------------------------------------------------------------- */

static gr_status import_pages(struct vk_staging_memory *s, size_t size)
{
    const gr_vk_device *device = s->binding.device;
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, .handleTypes = HOST_HANDLE};
    const VkImportMemoryHostPointerInfoEXT import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        .handleType = HOST_HANDLE,
        .pHostPointer = s->bytes,
    };
    VkMemoryHostPointerPropertiesEXT pages = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    VkMemoryRequirements need;
    VkResult result = device->vk.vkGetMemoryHostPointerPropertiesEXT(device->device, HOST_HANDLE,
                                                                     s->bytes, &pages);
    if (result != VK_SUCCESS)
        return vk_fail(result, "vkGetMemoryHostPointerPropertiesEXT",
                       "Memory that is registered with CUDA cannot be imported.");
    GR_TRY(make_buffer(s, size, &external));
    device->vk.vkGetBufferMemoryRequirements(device->device, s->binding.buffer, &need);
    if (need.size > size)
        return gr_fail(GR_ERR_VULKAN,
                       "The imported memory (bytes: %zu) is too small for its buffer (%llu).", size,
                       (unsigned long long)need.size);
    return allocate_and_bind(s, size, need.memoryTypeBits & pages.memoryTypeBits, &import);
}

static gr_status import_memory(struct vk_staging_memory *s, size_t size)
{
    const size_t alignment = (size_t)s->binding.device->host_alignment;
    const size_t whole = rounded(size, alignment);
    s->way = VK_STAGING_IMPORTED;
    /* CUDA would free its own memory with its context, when Vulkan may still use the memory. */
    s->allocated = gr_check_memory(malloc(whole + alignment));
    if (!s->allocated)
        return GR_ERR_NO_MEMORY;
    unsigned char *bytes = aligned(s->allocated, alignment);
    GR_TRY_CUDA(gr_driver()->MemHostRegister(bytes, whole, 0), "cuMemHostRegister",
                "%zu byte%s of host memory could not be registered.", whole, gr_s(whole));
    s->bytes = bytes;
    return import_pages(s, whole);
}

/* ---- Memory of Vulkan ------------------------------------------------------------------------ */

/* Registers whole pages, so that no other allocation shares a page. */
static gr_status register_memory(struct vk_staging_memory *s, size_t whole, void *mapping)
{
    s->mapped = aligned(mapping, gr_machine_page());
    s->offset = (VkDeviceSize)(s->mapped - (unsigned char *)mapping);
    CUresult result = gr_driver()->MemHostRegister(s->mapped, whole, 0);
    if (result == CUDA_SUCCESS) {
        s->way = VK_STAGING_REGISTERED;
        s->bytes = s->mapped;
        return GR_OK;
    }
    gr_log(GR_LOG_INFO, "the CPU copies, since cuMemHostRegister refused memory of Vulkan: %s",
           gr_cuda_error_name(result));
    void *pinned = NULL;
    GR_TRY_CUDA(gr_driver()->MemAllocHost(&pinned, whole), "cuMemAllocHost",
                "%zu byte%s of pinned host memory could not be allocated.", whole, gr_s(whole));
    s->bytes = s->allocated = pinned;
    return GR_OK;
}

static gr_status map_memory(struct vk_staging_memory *s, size_t size)
{
    const gr_vk_device *device = s->binding.device;
    const size_t page = gr_machine_page(), whole = rounded(size, page);
    VkMemoryRequirements need;
    void *mapping = NULL;
    GR_TRY(make_buffer(s, whole + page, NULL));
    device->vk.vkGetBufferMemoryRequirements(device->device, s->binding.buffer, &need);
    GR_TRY(allocate_and_bind(s, need.size, need.memoryTypeBits, NULL));
    VkResult mapped =
        device->vk.vkMapMemory(device->device, s->binding.memory, 0, VK_WHOLE_SIZE, 0, &mapping);
    if (mapped != VK_SUCCESS)
        return vk_fail(mapped, "vkMapMemory", "Memory for copies (bytes: %zu) could not be mapped.",
                       whole);
    return register_memory(s, whole, mapping);
}

/* ---- Copies by the CPU, on the driver's thread ----------------------------------------------- */

/* Copies the whole slot: the bounds of a range would have to be stored until the copy runs. */
static void CUDA_CB copy_from_mapped(void *user)
{
    const struct vk_staging_slot *slot = user;
    memcpy(slot->bytes, slot->mapped, slot->size);
}

static void CUDA_CB copy_to_mapped(void *user)
{
    const struct vk_staging_slot *slot = user;
    memcpy(slot->mapped, slot->bytes, slot->size);
}

gr_status vk_staging_memory_copy(struct vk_staging_memory *s, unsigned slot, bool in,
                                 CUstream stream)
{
    if (s->way != VK_STAGING_BY_CPU)
        return GR_OK;
    GR_TRY_WORK(gr_driver()->LaunchHostFunc(stream, in ? copy_from_mapped : copy_to_mapped,
                                            s->slots + slot),
                "cuLaunchHostFunc", "The CPU's copy could not be enqueued into the stream.");
    return GR_OK;
}

/* ---- All ways -------------------------------------------------------------------------------- */

void vk_staging_memory_end(struct vk_staging_memory *s, bool alive)
{
    const bool imported = s->way == VK_STAGING_IMPORTED;
    if (alive && s->bytes && (imported || s->way == VK_STAGING_REGISTERED))
        gr_driver()->MemHostUnregister(s->bytes);
    if (alive && s->way == VK_STAGING_PEER && s->bytes)
        gr_driver()->MemFree((CUdeviceptr)(uintptr_t)s->bytes);
    gr_import_drop(s->import, alive);
    vk_binding_end(&s->binding);
    if (imported)
        free(s->allocated);
    else if (alive && s->allocated)
        gr_driver()->MemFreeHost(s->allocated);
    *s = (struct vk_staging_memory){.way = VK_STAGING_BY_CPU, .binding.device = s->binding.device};
}

typedef gr_status make_function(struct vk_staging_memory *s, size_t size);

/* The ways that are possible here, the best one first. */
struct ways {
    make_function *make[2];
    size_t count;
    struct vk_staging_memory *memory;
    size_t size; /* of all slots */
};

static gr_status try_way(void *of, size_t i)
{
    const struct ways *ways = of;
    gr_status status = ways->make[i](ways->memory, ways->size);
    if (status != GR_OK)
        vk_staging_memory_end(ways->memory, true);
    return status;
}

gr_status vk_staging_memory_make(struct vk_staging_memory *s, bool by_peer, size_t size,
                                 unsigned count)
{
    const gr_vk_device *device = s->binding.device;
    const size_t stride = count > 1 && size <= SIZE_MAX / 2 ? rounded(size, SLOT_ALIGNMENT) : size;
    struct ways ways = {.memory = s, .size = stride * count};
    *s = (struct vk_staging_memory){.way = VK_STAGING_BY_CPU, .binding.device = s->binding.device};
    if (stride > SIZE_MAX / 2 / count)
        return gr_fail(GR_ERR_NO_MEMORY,
                       "Memory for copies (bytes: %zu, %u time%s) cannot be allocated.", size,
                       count, gr_s(count));
    if (!by_peer && device->host_alignment)
        ways.make[ways.count++] = import_memory;
    ways.make[ways.count++] = by_peer ? share_memory : map_memory;
    GR_TRY(gr_try(ways.count, try_way, NULL, &ways));
    s->size = size;
    s->stride = stride;
    if (s->way != VK_STAGING_PEER)
        memset(s->bytes, 0, ways.size);
    if (s->mapped)
        memset(s->mapped, 0, ways.size);
    for (unsigned i = 0; i < count && s->way == VK_STAGING_BY_CPU; i++)
        s->slots[i] = (struct vk_staging_slot){s->bytes + i * stride, s->mapped + i * stride, size};
    return GR_OK;
}
