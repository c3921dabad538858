/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Mapped images: their descriptions and arrays, which are queried from the driver after every map,
 * and their form in linear memory.
 */
#include "lib/resource/image.h"

#include <stdint.h>

#include "lib/resource/backend.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"

gr_status gr_image_refuse_compressed(unsigned format)
{
    return gr_fail(GR_ERR_UNSUPPORTED,
                   "CUDA describes the image by format 0x%x, whose texels are compressed: they are "
                   "not the channels of a tensor. Map it by gr_map_linear(), and describe to "
                   "gr_buffer_tensor() the 8 or 16 uint8 of each block, with `strides`.",
                   format);
}

static unsigned texel_bytes(unsigned format, unsigned channels)
{
    const struct gr_element element = gr_format_element(format, channels);
    return element.side == 1 ? element.bytes : 0;
}

bool gr_image_info_if_known(const gr_resource *resource, gr_image_info *info)
{
    *info = resource->image;
    info->texel_bytes = texel_bytes(info->format, info->channels);
    return info->channels;
}

gr_status gr_image_query(const gr_buffer *buffer, gr_image_info *info)
{
    const gr_resource *resource = buffer->resource;
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR described;
    GR_TRY(resource->backend->array(resource, 0, 0, &array));
    GR_TRY_CUDA(gr_driver()->Array3DGetDescriptor(&described, array), "cuArray3DGetDescriptor",
                "The driver could not describe the mapped image.");
    (void)gr_image_info_if_known(resource, info);
    info->width = described.Width;
    info->height = described.Height ? described.Height : 1;
    info->depth = resource->is_3d && described.Depth ? described.Depth : 1;
    if (gr_word_bytes(resource->image.format))
        return GR_OK;
    info->format = described.Format;
    info->channels = described.NumChannels;
    info->texel_bytes = texel_bytes(described.Format, described.NumChannels);
    return GR_OK;
}

const gr_image_info *gr_buffer_get_image_info(gr_buffer *buffer)
{
    GR_CALL();
    GR_ENTERED entered = 0;
    gr_image_info info;
    if (gr_image_check(buffer) != GR_OK ||
        gr_context_enter(&buffer->resource->context, &entered) != GR_OK ||
        gr_image_query(buffer, &info) != GR_OK)
        return NULL;
    buffer->info = info;
    return &buffer->info;
}

CUarray gr_buffer_array(gr_buffer *buffer, unsigned level, unsigned layer)
{
    GR_CALL();
    GR_ENTERED entered = 0;
    CUarray array = NULL;
    if (gr_image_check_part(buffer, level, layer) != GR_OK ||
        gr_context_enter(&buffer->resource->context, &entered) != GR_OK)
        return NULL;
    gr_resource *resource = buffer->resource;
    return resource->backend->array(resource, level, layer, &array) == GR_OK ? array : NULL;
}

CUmipmappedArray gr_buffer_mipmapped_array(gr_buffer *buffer)
{
    GR_CALL();
    GR_ENTERED entered = 0;
    CUmipmappedArray array = NULL;
    if (gr_image_check(buffer) != GR_OK ||
        gr_context_enter(&buffer->resource->context, &entered) != GR_OK)
        return NULL;
    gr_resource *resource = buffer->resource;
    return resource->backend->mipmapped_array(resource, &array) == GR_OK ? array : NULL;
}

gr_status gr_image_check_slices(const gr_resource *resource, unsigned level, unsigned z,
                                unsigned *depth, unsigned layer, unsigned layers)
{
    const gr_image_info *image = &resource->image;
    const unsigned all = (unsigned)gr_level_extent(resource->is_3d ? image->depth : 1, level);
    GR_REFUSE_IF(
        !resource->is_3d && (z || *depth),
        "`z` and `depth` are for 3D images: leave them 0, and choose layers by `layer` and "
        "`layers`.");
    GR_REFUSE_IF(resource->is_3d && layers,
                 "`layers` is %u, but a 3D image has slices: choose them by `z` and `depth`.",
                 layers);
    GR_REFUSE_IF(layers && layers > image->layers - layer,
                 "There are no %u layer%s from %u on: the image has %u %s%s, counted from 0.",
                 layers, gr_s(layers), layer, image->layers, image->cube ? "face" : "layer",
                 gr_s(image->layers));
    GR_REFUSE_IF(
        z >= all || *depth > all - z,
        "There are no slices from `z` %u on with a `depth` of %u: level %u has %u slice%s, "
        "counted from 0.",
        z, *depth, level, all, gr_s(all));
    if (!*depth)
        *depth = all - z;
    return GR_OK;
}

gr_status gr_image_check_rectangle(const gr_resource *resource, struct gr_region *r)
{
    const size_t width = gr_level_extent(resource->image.width, r->level);
    const size_t height = gr_level_extent(resource->image.height, r->level);
    GR_REFUSE_IF(r->x >= width || r->y >= height || r->width > width - r->x ||
                     r->height > height - r->y,
                 "The rectangle at x %zu, y %zu with width %zu and height %zu is not within level "
                 "%u of the image, which has %zu x %zu texels.",
                 r->x, r->y, r->width, r->height, r->level, width, height);
    if (!r->width)
        r->width = width - r->x;
    if (!r->height)
        r->height = height - r->y;
    return GR_OK;
}

/* ---- Linear memory, and the copies of transports that copy ----------------------------------- */

/* The alignment of levels in linear memory, for efficient copies. */
#define LEVEL_ALIGNMENT ((size_t)256)

struct gr_level gr_level_of(const gr_image_info *image, struct gr_element element, unsigned level)
{
    const size_t width = gr_level_extent(image->width, level);
    const size_t height = gr_level_extent(image->height, level);
    return (struct gr_level){gr_elements_across(element, width) * element.bytes,
                             gr_elements_across(element, height),
                             gr_level_extent(image->depth, level)};
}

size_t gr_lay_out(const gr_image_info *image, struct gr_element element,
                  size_t offsets[GR_MOST_LEVELS])
{
    size_t size = 0;
    for (unsigned i = 0; i < image->levels; i++) {
        const struct gr_level level = gr_level_of(image, element, i);
        const size_t rows = level.rows * level.slices * image->layers;
        offsets[i] = size;
        if (level.row > (SIZE_MAX / 2 - size) / rows)
            return SIZE_MAX;
        size += level.row * rows;
        size = (size + LEVEL_ALIGNMENT - 1) / LEVEL_ALIGNMENT * LEVEL_ALIGNMENT;
    }
    return size;
}

gr_status gr_copy_check(CUresult result, const char *driver_call, const gr_resource *resource)
{
    char text[160];
    if (result == CUDA_SUCCESS)
        return GR_OK;
    resource->backend->describe(resource, text, sizeof(text));
    return gr_fail_work(result, driver_call, "The copy of %s failed.", text);
}

gr_status gr_copy_level(const gr_resource *resource, struct gr_copy_side to,
                        struct gr_copy_side from, struct gr_level level, CUstream stream)
{
    const CUDA_MEMCPY3D copy = gr_copy_3d(to, from, level.row, level.rows, level.slices);
    return gr_copy_check(gr_driver()->Memcpy3DAsync(&copy, stream), "cuMemcpy3DAsync", resource);
}

gr_status gr_level_array(CUmipmappedArray mipmapped, unsigned level, CUarray *array)
{
    GR_TRY_CUDA(gr_driver()->MipmappedArrayGetLevel(array, mipmapped, level),
                "cuMipmappedArrayGetLevel", "Level %u has no array.", level);
    return GR_OK;
}
