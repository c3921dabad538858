/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Creates Vulkan buffers in the memory of tensors. */
#include "lib/base/error.h"
#include "lib/cuda/device.h"
#include "vk/resource/resource.h"

static gr_status check_memory(const gr_vk_device *device, const struct gr_tensor_memory *memory,
                              const char *call)
{
    char has[200];
    if (memory->device == device->cuda && memory->tensor->context.handle == device->context.handle)
        return GR_OK;
    gr_device_text(memory->device, has, sizeof(has));
    return gr_fail(GR_ERR_UNSUPPORTED, call,
                   "The tensor has memory on %s and the CUDA context %p, but the Vulkan device %s "
                   "was wrapped for the context %p: create the tensor on its GPU and in that "
                   "context, or publish it.",
                   has, (void *)memory->tensor->context.handle, device->identity.name,
                   (void *)device->context.handle);
}

static gr_resource *make(struct vk_resource *draft, const VkBufferCreateInfo *wish,
                         const struct gr_tensor_memory *memory, unsigned flags, const char *call)
{
    VkBufferCreateInfo info = *wish;
    VkExternalMemoryFeatureFlags features;
    if (check_memory(draft->binding.device, memory, call) != GR_OK)
        return NULL;
    if (info.size && info.size != memory->size) {
        gr_fail(GR_ERR_INVALID_VALUE, call,
                "`size` is %llu, but the elements of the tensor take %zu byte%s: leave it 0, or "
                "pass that.",
                (unsigned long long)info.size, memory->size, gr_s(memory->size));
        return NULL;
    }
    info.size = memory->size;
    if (vk_buffer_check(&info, call) != GR_OK ||
        vk_buffer_create(&draft->binding, &info, VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT,
                         &features, call) != GR_OK ||
        vk_memory_open(&draft->binding, memory, call) != GR_OK)
        return NULL;
    const gr_external_part_desc part = GR_INIT(gr_external_part_desc, .size = memory->size);
    return vk_resource_make(draft, &part, flags, call);
}

gr_resource *gr_create_vk_buffer_of(gr_vk_device *device, const VkBufferCreateInfo *info,
                                    gr_tensor *tensor, unsigned flags)
{
    if (vk_check_arguments(device, info, __func__) != GR_OK)
        return NULL;
    if (device->info.transport != GR_TRANSPORT_EXTERNAL) {
        gr_fail(GR_ERR_UNSUPPORTED, __func__,
                "The buffer has the memory of the tensor, but this device copies, since %s: "
                "publish the tensor to a buffer of gr_create_vk_buffer().",
                device->why);
        return NULL;
    }
    struct gr_tensor_memory *memory = gr_tensor_memory_make(tensor, flags, __func__);
    if (!memory)
        return NULL;
    struct vk_resource draft = {
        .external.memory = &memory->import,
        .binding = {.device = device, .transport = GR_TRANSPORT_EXTERNAL},
        .owned = true,
        .concurrent = info->sharingMode == VK_SHARING_MODE_CONCURRENT,
    };
    gr_resource *made = make(&draft, info, memory, flags, __func__);
    if (!made)
        vk_binding_end(&draft.binding);
    gr_tensor_memory_drop(memory);
    return made;
}
