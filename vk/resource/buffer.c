/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Resources from Vulkan buffers: buffers of the application, and buffers that grinterop creates,
 * also in the memory of tensors.
 */
#include "lib/base/error.h"
#include "lib/base/flags.h"
#include "lib/base/struct_size.h"
#include "lib/cuda/device.h"
#include "vk/resource/resource.h"

/* ---- From the application -------------------------------------------------------------------- */

/* The kind of objects that another device cannot import, and advice. */
#define NOT_DEDICATED                                                                              \
    "Memory that is not dedicated to one buffer",                                                  \
        "Allocate it with VkMemoryDedicatedAllocateInfo and pass dedicated true, use "             \
        "gr_create_vk_buffer(), or let gr_vk_device_from_vk() copy it (transports = "              \
        "GR_TRANSPORT_ANY)."

static gr_resource *make_existing(struct vk_resource *draft, const void *desc, unsigned flags)
{
    const gr_vk_buffer_desc *info = desc;
    VkDeviceSize offset = info->offset;
    if (vk_memory_check(&draft->binding, &offset) != GR_OK)
        return NULL;
    const VkDeviceSize size = info->size, whole = draft->binding.memory_size;
    if (size == 0)
        return gr_null(
            gr_fail(GR_ERR_INVALID_VALUE, "`size` is 0: pass the size of the buffer in bytes."));
    if (offset > whole || size > whole - offset)
        return gr_null(gr_fail(
            GR_ERR_INVALID_VALUE,
            "The buffer of size %llu at offset %llu exceeds its memory of size %llu: "
            "pass " VK_MEMORY_SIZE " as `memory_size`, and the offset of vkBindBufferMemory.",
            (unsigned long long)size, (unsigned long long)offset, (unsigned long long)whole));
    const gr_external_part_desc part =
        GR_INIT(gr_external_part_desc, .offset = (size_t)offset, .size = (size_t)size);
    return vk_resource_make(draft, &part, flags);
}

gr_resource *gr_from_vk_buffer(gr_vk_device *device, const gr_vk_buffer_desc *given, unsigned flags)
{
    GR_CALL();
    gr_vk_buffer_desc info;
    if (vk_check_arguments(device, given) != GR_OK ||
        GR_TAKE(gr_vk_buffer_desc, &info, given) != GR_OK ||
        gr_flags_check(flags, false) != GR_OK ||
        vk_check_in_flight(device, info.in_flight, flags) != GR_OK)
        return NULL;
    if (!info.buffer)
        return gr_null(
            gr_fail(GR_ERR_INVALID_VALUE, "`buffer` is VK_NULL_HANDLE: pass the VkBuffer."));
    const struct vk_resource draft = {
        .binding = {device, info.buffer, VK_NULL_HANDLE, info.memory, info.memory_size,
                    info.dedicated, 0},
        .concurrent = info.sharing_mode == VK_SHARING_MODE_CONCURRENT,
        .in_flight = info.in_flight,
    };
    const struct vk_object object = {make_existing, &info, flags, info.dedicated, NOT_DEDICATED};
    return vk_resource_choose(&draft, &object);
}

/* ---- Created by grinterop -------------------------------------------------------------------- */

/* Checks that the device can export or import such a buffer, unless it is copied. */
static gr_status check_feature(const struct vk_binding *b, const VkBufferCreateInfo *wish,
                               VkExternalMemoryFeatureFlags needed,
                               VkExternalMemoryFeatureFlags *features)
{
    const VkPhysicalDeviceExternalBufferInfo info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
        .flags = wish->flags,
        .usage = wish->usage,
        .handleType = GR_VK_MEMORY_HANDLE,
    };
    VkExternalBufferProperties properties = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
    const gr_vk_device *device = b->device;
    *features = 0;
    if (vk_is_copied(b))
        return GR_OK;
    device->vk.vkGetPhysicalDeviceExternalBufferProperties(device->physical_device, &info,
                                                           &properties);
    *features = properties.externalMemoryProperties.externalMemoryFeatures;
    if (*features & needed)
        return GR_OK;
    return gr_fail(GR_ERR_UNSUPPORTED,
                   "%s cannot %s buffers of usage 0x%x and flags 0x%x as " GR_VK_HANDLE_NAME
                   ": leave out usages, or share another buffer and copy between the two on the "
                   "device.",
                   device->identity.name,
                   needed == VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT ? "export" : "import",
                   wish->usage, wish->flags);
}

/*
 * Creates a buffer without memory. Unless it is copied, the device must have the feature `needed`
 * of external memory; *features receives all of them.
 */
static gr_status create_buffer(struct vk_binding *b, const VkBufferCreateInfo *wish,
                               VkExternalMemoryFeatureFlags needed,
                               VkExternalMemoryFeatureFlags *features)
{
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .pNext = wish->pNext,
        .handleTypes = GR_VK_MEMORY_HANDLE,
    };
    VkBufferCreateInfo info = *wish;
    GR_TRY(check_feature(b, wish, needed, features));
    if (vk_is_copied(b))
        info.usage |= VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    else if (!vk_chain_find(wish->pNext, external.sType))
        info.pNext = &external;
    VkResult result = b->device->vk.vkCreateBuffer(b->device->device, &info, NULL, &b->buffer);
    if (result == VK_SUCCESS)
        return GR_OK;
    b->buffer = VK_NULL_HANDLE;
    return vk_fail(result, "vkCreateBuffer", "A buffer of %llu byte%s, usage 0x%x, was refused.",
                   (unsigned long long)info.size, gr_s(info.size), info.usage);
}

static gr_status check_buffer(const VkBufferCreateInfo *info)
{
    GR_REFUSE_IF(
        info->sType != VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        "The sType of VkBufferCreateInfo is %d: set it to VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO.",
        info->sType);
    GR_REFUSE_IF(info->size == 0, "`size` is 0: Vulkan has no empty buffers.");
    GR_REFUSE_IF(info->usage == 0,
                 "`usage` is 0: state what Vulkan does with the buffer, for example "
                 "VK_BUFFER_USAGE_VERTEX_BUFFER_BIT.");
    /* CUDA cannot import buffers in several memory objects, or in protected memory. */
    const VkBufferCreateFlags refused =
        VK_BUFFER_CREATE_SPARSE_BINDING_BIT | VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT |
        VK_BUFFER_CREATE_SPARSE_ALIASED_BIT | VK_BUFFER_CREATE_PROTECTED_BIT;
    if (info->flags & refused)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "CUDA does not accept buffers that are sparse or protected (flags 0x%x): "
                       "create the buffer without 0x%x.",
                       info->flags, info->flags & refused);
    return vk_check_handle_types(info->pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
                                 "VkExternalMemoryBufferCreateInfo");
}

static gr_resource *make_new(struct vk_resource *draft, const void *wish, unsigned flags)
{
    const VkBufferCreateInfo *info = wish;
    const gr_external_part_desc part = GR_INIT(gr_external_part_desc, .size = (size_t)info->size);
    const bool has_address = info->usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    VkExternalMemoryFeatureFlags features;
    return create_buffer(&draft->binding, info, VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT,
                         &features) == GR_OK &&
                   vk_memory_allocate(&draft->binding, features, has_address) == GR_OK
               ? vk_resource_make(draft, &part, flags)
               : NULL;
}

gr_resource *gr_create_vk_buffer(gr_vk_device *device, const VkBufferCreateInfo *info,
                                 unsigned flags)
{
    GR_CALL();
    if (vk_check_arguments(device, info) != GR_OK || gr_flags_check(flags, false) != GR_OK ||
        check_buffer(info) != GR_OK)
        return NULL;
    const struct vk_resource draft = {
        .binding.device = device,
        .owned = true,
        .concurrent = info->sharingMode == VK_SHARING_MODE_CONCURRENT,
    };
    const struct vk_object object = {make_new, info, flags, .crosses = true};
    return vk_resource_choose(&draft, &object);
}

/* ---- In the memory of a tensor --------------------------------------------------------------- */

static gr_status check_memory(const gr_vk_device *device, const struct gr_tensor_memory *memory)
{
    char has[200];
    if (memory->device == device->cuda && memory->tensor->context.handle == device->context.handle)
        return GR_OK;
    gr_device_text(memory->device, has, sizeof(has));
    return gr_fail(GR_ERR_UNSUPPORTED,
                   "The tensor has memory on %s and the CUDA context %p, but the Vulkan device %s "
                   "was wrapped for the context %p: create the tensor on its GPU and in that "
                   "context, or publish it.",
                   has, (void *)memory->tensor->context.handle, device->identity.name,
                   (void *)device->context.handle);
}

static gr_resource *make_of_tensor(struct vk_resource *draft, const VkBufferCreateInfo *wish,
                                   const struct gr_tensor_memory *memory, unsigned flags)
{
    VkBufferCreateInfo info = *wish;
    VkExternalMemoryFeatureFlags features;
    if (check_memory(draft->binding.device, memory) != GR_OK)
        return NULL;
    if (info.size && info.size != memory->size)
        return gr_null(gr_fail(
            GR_ERR_INVALID_VALUE,
            "`size` is %llu, but the elements of the tensor take %zu byte%s: leave it 0, or "
            "pass that.",
            (unsigned long long)info.size, memory->size, gr_s(memory->size)));
    info.size = memory->size;
    if (check_buffer(&info) != GR_OK ||
        create_buffer(&draft->binding, &info, VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT,
                      &features) != GR_OK ||
        vk_memory_open(&draft->binding, memory) != GR_OK)
        return NULL;
    const gr_external_part_desc part = GR_INIT(gr_external_part_desc, .size = memory->size);
    return vk_resource_make(draft, &part, flags);
}

gr_resource *gr_create_vk_buffer_of(gr_vk_device *device, const VkBufferCreateInfo *info,
                                    gr_tensor *tensor, unsigned flags)
{
    GR_CALL();
    if (vk_check_arguments(device, info) != GR_OK)
        return NULL;
    if (device->info.transport != GR_TRANSPORT_EXTERNAL)
        return gr_null(
            gr_fail(GR_ERR_UNSUPPORTED,
                    "The buffer has the memory of the tensor, but this device copies, since %s: "
                    "publish the tensor to a buffer of gr_create_vk_buffer().",
                    device->why));
    struct gr_tensor_memory *memory = gr_tensor_memory_make(tensor, flags);
    if (!memory)
        return NULL;
    struct vk_resource draft = {
        .external.memory = &memory->import,
        .binding = {.device = device, .transport = GR_TRANSPORT_EXTERNAL},
        .owned = true,
        .concurrent = info->sharingMode == VK_SHARING_MODE_CONCURRENT,
    };
    gr_resource *made = make_of_tensor(&draft, info, memory, flags);
    if (!made)
        vk_binding_end(&draft.binding);
    gr_tensor_memory_drop(memory);
    return made;
}
