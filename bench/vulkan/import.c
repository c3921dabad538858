/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Import and destruction of a buffer and an image: from the VkDeviceMemory to the address or object
 * that kernels use, and back. The Vulkan objects stay.
 *
 * An object that no stream has used is destroyed at once, by grinterop and by the raw calls. An
 * object that a stream has used is different: the raw calls must wait for the stream, while
 * grinterop sets the object aside and destroys it in the next frame. A block of grinterop therefore
 * destroys the last object of the previous block, and the next block destroys the last object of
 * this block.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "bench/vulkan/vulkan.h"

bool vkb_import_memory(struct vkb *bench, const struct vkb_object *object, bool dedicated,
                       CUexternalMemory *memory)
{
    const VkMemoryGetFdInfoKHR wanted = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                         .memory = object->memory,
                                         .handleType =
                                             VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    int fd = -1;
    if (!vkb_ok(bench->vk.vkGetMemoryFdKHR(bench->handles->device, &wanted, &fd),
                "vkGetMemoryFdKHR"))
        return false;
    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {
        .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
        .handle.fd = fd,
        .size = object->memory_size,
        .flags = dedicated ? CUDA_EXTERNAL_MEMORY_DEDICATED : 0};
    CUresult result = bench->cuda->ImportExternalMemory(memory, &desc);
    if (result == CUDA_SUCCESS)
        return true;
    close(fd);
    return bench_cuda_failed(result, "cuImportExternalMemory");
}

static bool destroy_memory(struct vkb *bench, CUexternalMemory memory)
{
    return bench_cuda_ok(bench->cuda->DestroyExternalMemory(memory), "cuDestroyExternalMemory");
}

static bool use_once(struct vkb *bench, CUdeviceptr pointer)
{
    return bench_cuda_ok(bench->cuda->MemsetD32Async(pointer, 1, VKB_BYTES / 8, bench->on.stream),
                         "cuMemsetD32Async");
}

static bool use_and_wait(struct vkb *bench, CUdeviceptr pointer)
{
    if (!use_once(bench, pointer))
        return false;
    return bench_cuda_ok(bench->cuda->StreamSynchronize(bench->on.stream), "cuStreamSynchronize");
}

static bool import_buffer_raw(struct vkb *bench, bool used)
{
    CUexternalMemory memory;
    if (!vkb_import_memory(bench, &bench->spare_buffer, false, &memory))
        return false;
    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc = {.size = VKB_BYTES};
    CUdeviceptr pointer;
    if (!bench_cuda_ok(bench->cuda->ExternalMemoryGetMappedBuffer(&pointer, memory, &desc),
                       "cuExternalMemoryGetMappedBuffer"))
        return false;
    if (used && !use_and_wait(bench, pointer))
        return false;
    if (!bench_cuda_ok(bench->cuda->MemFree(pointer), "cuMemFree"))
        return false;
    return destroy_memory(bench, memory);
}

bool vkb_import_buffer_raw(struct vkb *bench, struct vkb_side *side, const struct vkb_kind *kind)
{
    (void)side, (void)kind;
    return import_buffer_raw(bench, false);
}

bool vkb_import_used_raw(struct vkb *bench, struct vkb_side *side, const struct vkb_kind *kind)
{
    (void)side, (void)kind;
    return import_buffer_raw(bench, true);
}

bool vkb_import_image_raw(struct vkb *bench, struct vkb_side *side, const struct vkb_kind *kind)
{
    (void)side, (void)kind;
    CUexternalMemory memory;
    if (!vkb_import_memory(bench, &bench->spare_image, true, &memory))
        return false;
    const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC desc = {
        .arrayDesc = {.Width = VKB_IMAGE_WIDTH,
                      .Height = VKB_IMAGE_HEIGHT,
                      .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                      .NumChannels = 4,
                      .Flags = CUDA_ARRAY3D_SURFACE_LDST},
        .numLevels = 1};
    CUmipmappedArray mipmapped;
    CUarray level;
    if (!bench_cuda_ok(
            bench->cuda->ExternalMemoryGetMappedMipmappedArray(&mipmapped, memory, &desc),
            "cuExternalMemoryGetMappedMipmappedArray"))
        return false;
    if (!bench_cuda_ok(bench->cuda->MipmappedArrayGetLevel(&level, mipmapped, 0),
                       "cuMipmappedArrayGetLevel"))
        return false;
    if (!bench_cuda_ok(bench->cuda->MipmappedArrayDestroy(mipmapped), "cuMipmappedArrayDestroy"))
        return false;
    return destroy_memory(bench, memory);
}

static bool end_resource(gr_resource *resource, const char *made_by)
{
    if (!resource)
        return bench_grinterop_failed(made_by);
    gr_status status = gr_resource_close(resource, GR_STREAM_OF_MAP);
    gr_resource_free(resource);
    return status == GR_OK || bench_grinterop_failed("gr_resource_close");
}

gr_resource *vkb_import_grinterop(struct vkb *bench, const struct vkb_object *object)
{
    const gr_vk_buffer_desc info =
        GR_INIT(gr_vk_buffer_desc, .buffer = object->buffer, .memory = object->memory,
                .memory_size = object->memory_size, .size = VKB_BYTES);
    return gr_from_vk_buffer(bench->wrap, &info, GR_READ_WRITE);
}

bool vkb_import_buffer_grinterop(struct vkb *bench, struct vkb_side *side,
                                 const struct vkb_kind *kind)
{
    (void)side, (void)kind;
    return end_resource(vkb_import_grinterop(bench, &bench->spare_buffer), "gr_from_vk_buffer");
}

bool vkb_import_used_grinterop(struct vkb *bench, struct vkb_side *side,
                               const struct vkb_kind *kind)
{
    (void)side, (void)kind;
    gr_resource *resource = vkb_import_grinterop(bench, &bench->spare_buffer);
    if (!resource)
        return bench_grinterop_failed("gr_from_vk_buffer");
    gr_buffer *buffer = gr_map(resource, bench->on.stream);
    bool good = buffer ? use_once(bench, gr_buffer_ptr(buffer)) : bench_grinterop_failed("gr_map");
    if (gr_buffer_release(buffer) != GR_OK)
        good = bench_grinterop_failed("gr_buffer_release");
    return end_resource(resource, "gr_from_vk_buffer") && good;
}

bool vkb_import_image_grinterop(struct vkb *bench, struct vkb_side *side,
                                const struct vkb_kind *kind)
{
    (void)side, (void)kind;
    const struct vkb_object *object = &bench->spare_image;
    const gr_vk_image_desc info =
        GR_INIT(gr_vk_image_desc, .create_info = &vkb_image_info, .image = object->image,
                .memory = object->memory, .memory_size = object->memory_size, .dedicated = true);
    return end_resource(gr_from_vk_image(bench->wrap, &info, GR_SURFACE_LOAD_STORE),
                        "gr_from_vk_image");
}
