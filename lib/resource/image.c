/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Mapped images: their descriptions and arrays, which are queried from the driver after every map.
 */
#include "lib/resource/image.h"

#include "lib/resource/backend.h"
#include "lib/cuda/array_format.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/resource/resource.h"

gr_status gr_image_check(const gr_buffer *buffer, const char *call)
{
    GR_TRY(gr_buffer_check(buffer, call));
    if (!buffer->resource->is_image)
        return gr_fail(GR_ERR_STATE, call,
                       "The resource is a buffer, not an image: use gr_buffer_ptr().");
    if (!gr_buffer_is_live(buffer))
        return gr_fail(GR_ERR_STATE, call, "The image is no longer mapped: map it again.");
    return GR_OK;
}

gr_status gr_image_check_range(const gr_resource *resource, unsigned level, unsigned layer,
                               const char *call)
{
    const gr_image_info *image = &resource->image;
    if (level < image->levels && layer < image->layers)
        return GR_OK;
    bool swapped = layer < image->levels && level < image->layers;
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "There is no level %u with layer %u: the image has %u level%s and %u %s%s, "
                   "counted from 0.%s",
                   level, layer, image->levels, gr_s(image->levels), image->layers,
                   image->cube ? "face" : "layer", gr_s(image->layers),
                   swapped ? " Are the two swapped? The level comes first." : "");
}

gr_status gr_image_check_part(const gr_buffer *buffer, unsigned level, unsigned layer,
                              const char *call)
{
    GR_TRY(gr_image_check(buffer, call));
    return gr_image_check_range(buffer->resource, level, layer, call);
}

gr_status gr_image_refuse_packed(unsigned format, const char *call)
{
    return gr_fail(
        GR_ERR_UNSUPPORTED, call,
        "CUDA describes the image by format 0x%x, whose texels are packed or compressed: "
        "they are not the channels of a tensor. Map it by gr_map_linear(), "
        "and describe to gr_buffer_tensor() %s.",
        format,
        gr_format_is_compressed(format) ? "the 8 or 16 uint8 of each block"
        : gr_word_bytes(format) == 2    ? "each texel as one uint16"
                                        : "each texel as one uint32");
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
    GR_ENTERED pushed = false;
    gr_image_info info;
    if (gr_image_check(buffer, __func__) != GR_OK ||
        gr_context_enter(&buffer->resource->context, &pushed, __func__) != GR_OK ||
        gr_image_query(buffer, &info) != GR_OK)
        return NULL;
    buffer->info = info;
    return &buffer->info;
}

CUarray gr_buffer_array(gr_buffer *buffer, unsigned level, unsigned layer)
{
    GR_ENTERED pushed = false;
    CUarray array = NULL;
    if (gr_image_check_part(buffer, level, layer, __func__) != GR_OK ||
        gr_context_enter(&buffer->resource->context, &pushed, __func__) != GR_OK)
        return NULL;
    gr_resource *resource = buffer->resource;
    return resource->backend->array(resource, level, layer, &array) == GR_OK ? array : NULL;
}

CUmipmappedArray gr_buffer_mipmapped_array(gr_buffer *buffer)
{
    GR_ENTERED pushed = false;
    CUmipmappedArray array = NULL;
    if (gr_image_check(buffer, __func__) != GR_OK ||
        gr_context_enter(&buffer->resource->context, &pushed, __func__) != GR_OK)
        return NULL;
    gr_resource *resource = buffer->resource;
    return resource->backend->mipmapped_array(resource, &array, __func__) == GR_OK ? array : NULL;
}
