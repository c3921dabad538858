/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Import and destruction of a buffer and an image: from the VkDeviceMemory to the address or object
 * that kernels use, and back. The Vulkan objects stay. No stream has used the object, so that it is
 * destroyed at once, by grinterop and by the raw calls.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "bench/vulkan/vulkan.h"

enum { IMAGE_SIZE = 256 };

static struct bench_vk_object spare_buffer, spare_image;
static VkImageCreateInfo spare_info; /* of the image */

VkImageCreateInfo vkb_image_info(uint32_t width, uint32_t height)
{
    return bench_vk_image_info(VK_FORMAT_R8G8B8A8_UNORM, width, height,
                               VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_SAMPLED_BIT |
                                   VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
}

void vkb_make_spares(void)
{
    spare_info = vkb_image_info(IMAGE_SIZE, IMAGE_SIZE);
    spare_buffer = vkb_make_buffer();
    spare_image = bench_vk_image(&spare_info, true);
}

CUexternalMemory vkb_import_memory(const struct bench_vk_object *object, bool dedicated)
{
    const VkMemoryGetFdInfoKHR wanted = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                         .memory = object->memory,
                                         .handleType =
                                             VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    CUexternalMemory memory;
    int fd;
    VK(GetMemoryFdKHR, bench_vk.on.device, &wanted, &fd);
    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {
        .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
        .handle.fd = fd,
        .size = object->memory_size,
        .flags = dedicated ? CUDA_EXTERNAL_MEMORY_DEDICATED : 0};
    const CUresult result = bench_cuda->ImportExternalMemory(&memory, &desc);
    if (result != CUDA_SUCCESS)
        close(fd);
    bench_check_cuda(result, "cuImportExternalMemory");
    return memory;
}

/* ---- By raw calls ---------------------------------------------------------------------------- */

static void buffer_raw(struct vkb_side *side, const struct vkb_kind *kind)
{
    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc = {.size = VKB_BYTES};
    CUexternalMemory memory = vkb_import_memory(&spare_buffer, false);
    CUdeviceptr pointer;
    (void)side, (void)kind;
    CU(ExternalMemoryGetMappedBuffer, &pointer, memory, &desc);
    CU(MemFree, pointer);
    CU(DestroyExternalMemory, memory);
}

static void image_raw(struct vkb_side *side, const struct vkb_kind *kind)
{
    const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC desc = {
        .arrayDesc = {.Width = IMAGE_SIZE,
                      .Height = IMAGE_SIZE,
                      .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                      .NumChannels = 4,
                      .Flags = CUDA_ARRAY3D_SURFACE_LDST},
        .numLevels = 1};
    CUmipmappedArray mipmapped;
    CUarray level;
    (void)side, (void)kind;
    CUexternalMemory memory = vkb_import_memory(&spare_image, true);
    CU(ExternalMemoryGetMappedMipmappedArray, &mipmapped, memory, &desc);
    CU(MipmappedArrayGetLevel, &level, mipmapped, 0);
    CU(MipmappedArrayDestroy, mipmapped);
    CU(DestroyExternalMemory, memory);
}

/* ---- By grinterop ---------------------------------------------------------------------------- */

gr_resource *vkb_import_grinterop(const struct bench_vk_object *object)
{
    gr_resource *resource;
    GR_NEW(resource, from_vk_buffer, vkb.device,
           &GR_INIT(gr_vk_buffer_desc, .buffer = object->buffer, .memory = object->memory,
                    .memory_size = object->memory_size, .size = VKB_BYTES),
           GR_READ_WRITE);
    return resource;
}

static void end_resource(gr_resource *resource)
{
    GR(resource_close, resource, GR_STREAM_OF_MAP);
    gr_resource_free(resource);
}

static void buffer_grinterop(struct vkb_side *side, const struct vkb_kind *kind)
{
    (void)side, (void)kind;
    end_resource(vkb_import_grinterop(&spare_buffer));
}

static void image_grinterop(struct vkb_side *side, const struct vkb_kind *kind)
{
    gr_resource *resource;
    (void)side, (void)kind;
    GR_NEW(resource, from_vk_image, vkb.device,
           &GR_INIT(gr_vk_image_desc, .create_info = &spare_info, .image = spare_image.image,
                    .memory = spare_image.memory, .memory_size = spare_image.memory_size,
                    .dedicated = true),
           GR_SURFACE_LOAD_STORE);
    end_resource(resource);
}

#define IMPORT(name, what, raw, grinterop)                                                         \
    {                                                                                              \
        .row = {name, what, "Export from Vulkan, import, destroy", vkb_measure},                   \
        .part = VKB_IMPORT, .frame = {raw, grinterop}, .resources = 1, .room_frames = 4,           \
        .submits = 1, .copies = 1                                                                  \
    }

const struct vkb_kind vkb_import_rows[] = {
    IMPORT("import/buffer", "buffer", buffer_raw, buffer_grinterop),
    IMPORT("import/image", "image", image_raw, image_grinterop),
    {.part = 0},
};
