/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "vk/copy/image.h"

#include <stdint.h>

#include "lib/cuda/array_format.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/external/memory_part.h"
#include "lib/resource/image.h"
#include "lib/base/plural.h"

/* Levels start at multiples of this, for efficient copies. */
#define LEVEL_ALIGNMENT ((size_t)256)

size_t vk_copy_image_layout(struct vk_copy_image *image, const gr_external_image_desc *desc)
{
    const struct gr_element element = gr_format_element(desc->format, desc->channels);
    size_t size = 0;
    image->levels = desc->levels;
    image->layers = desc->layers ? desc->layers : 1;
    image->is_3d = desc->depth > 0;
    for (unsigned i = 0; i < image->levels; i++) {
        struct vk_copy_level *level = &image->level[i];
        level->extent = (VkExtent3D){(uint32_t)gr_level_extent(desc->width, i),
                                     (uint32_t)gr_level_extent(desc->height, i),
                                     (uint32_t)gr_level_extent(desc->depth, i)};
        level->row = gr_elements_across(element, level->extent.width) * element.bytes;
        level->rows = gr_elements_across(element, level->extent.height);
        level->offset = size;
        const size_t rows = level->rows * level->extent.depth * image->layers;
        if (level->row > (SIZE_MAX / 2 - size) / rows)
            return SIZE_MAX;
        size += level->row * rows;
        size = (size + LEVEL_ALIGNMENT - 1) / LEVEL_ALIGNMENT * LEVEL_ALIGNMENT;
    }
    return size;
}

static CUresult find_levels(struct vk_copy_image *image, CUmipmappedArray mipmapped)
{
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; i < image->levels && result == CUDA_SUCCESS; i++)
        result = gr_driver()->MipmappedArrayGetLevel(&image->level[i].array, mipmapped, i);
    return result;
}

gr_status vk_copy_image_allocate(struct vk_copy_image *image, const gr_external_image_desc *desc,
                                 unsigned flags, CUmipmappedArray *mipmapped, const char *call)
{
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC as;
    gr_external_image_desc own = *desc;
    own.color_attachment = false; /* for imported memory only */
    own.placed_levels = 0;
    const gr_external_part_desc part = GR_INIT(gr_external_part_desc, .image = &own);
    gr_external_array_desc(&part, flags, &as);
    CUresult result = gr_driver()->MipmappedArrayCreate(mipmapped, &as.arrayDesc, as.numLevels);
    if (result != CUDA_SUCCESS) {
        *mipmapped = NULL;
        return gr_fail_cuda(result, "cuMipmappedArrayCreate",
                            "%s: a CUDA array of %zu x %zu x %zu texels with %u level%s for the "
                            "copy could not be created.",
                            call, as.arrayDesc.Width, as.arrayDesc.Height, as.arrayDesc.Depth,
                            as.numLevels, gr_s(as.numLevels));
    }
    result = find_levels(image, *mipmapped);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    gr_driver()->MipmappedArrayDestroy(*mipmapped);
    *mipmapped = NULL;
    return gr_fail_cuda(result, "cuMipmappedArrayGetLevel", "%s: a level has no array.", call);
}

CUresult vk_copy_image_move(const struct vk_copy_image *image, unsigned char *host, bool peer,
                            bool to_arrays, CUstream stream)
{
    const CUmemorytype type = peer ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; i < image->levels && result == CUDA_SUCCESS; i++) {
        const struct vk_copy_level *level = &image->level[i];
        CUDA_MEMCPY3D copy = {
            .srcMemoryType = to_arrays ? type : CU_MEMORYTYPE_ARRAY,
            .dstMemoryType = to_arrays ? CU_MEMORYTYPE_ARRAY : type,
            .WidthInBytes = level->row,
            .Height = level->rows,
            .Depth = image->is_3d ? level->extent.depth : image->layers,
        };
        if (to_arrays) {
            copy.srcHost = host + level->offset;
            copy.srcDevice = (CUdeviceptr)(uintptr_t)copy.srcHost;
            copy.srcPitch = level->row;
            copy.srcHeight = level->rows;
            copy.dstArray = level->array;
        } else {
            copy.srcArray = level->array;
            copy.dstHost = host + level->offset;
            copy.dstDevice = (CUdeviceptr)(uintptr_t)copy.dstHost;
            copy.dstPitch = level->row;
            copy.dstHeight = level->rows;
        }
        result = gr_driver()->Memcpy3DAsync(&copy, stream);
    }
    return result;
}
