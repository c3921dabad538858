/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Describes tensors, mapped images and parts of mapped buffers, each as a gr_picture. */
#include "lib/publish/sides.h"

#include <string.h>

#include "lib/resource/backend.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/resource/image.h"
#include "lib/base/struct_size.h"
#include "lib/tensor/array.h"
#include "lib/tensor/shape.h"
#include "lib/tensor/tensor.h"

/* ---- Tensors --------------------------------------------------------------------------------- */

/*
 * Replaces unused strides, which may have any value: the strides of dimensions of 1 by compact
 * strides, and all strides of an empty tensor by 0.
 */
static void settle_strides(struct gr_shaped *shaped)
{
    int64_t *strides = shaped->strides;
    for (unsigned i = 0; i < shaped->ndim; i++)
        if (shaped->shape[i] == 0) {
            memset(strides, 0, sizeof(shaped->strides));
            return;
        }
    int64_t inner = (int64_t)gr_dtype_get_info(shaped->dtype)->size;
    for (unsigned i = shaped->ndim; i-- > 0;) {
        if (shaped->shape[i] == 1)
            strides[i] = inner;
        inner = strides[i] * shaped->shape[i]; /* at most twice the span of the tensor */
    }
}

static struct gr_shaped shape_of(const gr_tensor *tensor, const char *what, gr_layout layout)
{
    struct gr_shaped shaped = {.what = what,
                               .dtype = tensor->info.dtype,
                               .layout = layout ? layout : tensor->info.layout,
                               .ndim = tensor->info.ndim,
                               .base = tensor->ptr,
                               .memory = tensor->info.memory};
    memcpy(shaped.shape, tensor->shape, sizeof(shaped.shape));
    memcpy(shaped.strides, tensor->strides, sizeof(shaped.strides));
    settle_strides(&shaped);
    return shaped;
}

static gr_status read_tensor(const struct gr_shaped *shaped, const gr_publish_options *o,
                             bool volume, struct gr_publish_sides *sides, const char *call)
{
    struct gr_shaped chroma;
    if (o->chroma)
        chroma = shape_of(o->chroma, "`chroma`", GR_LAYOUT_SHAPE);
    GR_TRY(gr_picture_read(shaped, o->chroma ? &chroma : NULL, volume, &sides->tensor, call));
    if (shaped->memory == GR_MEMORY_ARRAY) {
        sides->tensor.in_array = true;
        sides->tensor_array.array = (CUarray)(uintptr_t)shaped->base;
    }
    return GR_OK;
}

/* ---- Images ---------------------------------------------------------------------------------- */

static void describe_image(const gr_image_info *info, bool volume, unsigned level,
                           struct gr_picture *p)
{
    const size_t texel = info->texel_bytes, width = gr_level_extent(info->width, level);
    const size_t height = gr_level_extent(info->height, level);
    *p = (struct gr_picture){
        .dtype = gr_array_dtype(info->format),
        .is_number = !info->normalized && info->format != CU_AD_FORMAT_HALF &&
                     info->format != CU_AD_FORMAT_FLOAT,
        .width = (int64_t)width,
        .height = (int64_t)height,
        .depth = volume ? (int64_t)gr_level_extent(info->depth, level) : 1,
        .channels = info->channels,
        .pixel = (int64_t)texel,
        .channel = (int64_t)(texel / info->channels),
    };
    struct gr_shaped *shaped = &p->shaped;
    *shaped = (struct gr_shaped){.what = "the image", .dtype = p->dtype};
    if (volume)
        shaped->shape[shaped->ndim++] = p->depth;
    shaped->shape[shaped->ndim++] = p->height;
    shaped->shape[shaped->ndim++] = p->width;
    shaped->shape[shaped->ndim++] = (int64_t)p->channels;
}

/* Describes linear memory, which contains only the level and layer that were mapped. */
static gr_status take_linear(const gr_buffer *buffer, const gr_publish_options *o,
                             struct gr_picture *p, const char *call)
{
    if (buffer->level != o->level || buffer->layer != o->layer)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "gr_map_linear() mapped level %u, layer %u, but the options name level %u, "
                       "layer %u: use gr_map(), which maps all of them.",
                       buffer->level, buffer->layer, o->level, o->layer);
    p->base = buffer->ptr;
    p->row = (int64_t)buffer->pitch;
    p->slice = p->row * p->height;
    return GR_OK;
}

static gr_status look_at_array(const gr_image_info *info, struct gr_publish_sides *sides,
                               const char *call)
{
    CUDA_ARRAY3D_DESCRIPTOR described;
    CUresult result = gr_driver()->Array3DGetDescriptor(&described, sides->array.array);
    if (result != CUDA_SUCCESS)
        return gr_fail_cuda(result, "cuArray3DGetDescriptor",
                            "%s: the driver could not describe the mapped image.", call);
    sides->has_other_surfaces = described.Height == 0 || (info->layered && info->cube);
    return GR_OK;
}

/* Describes an image as far as this is possible without its CUDA array. */
static gr_status read_image(const gr_resource *resource, const gr_image_info *info,
                            const gr_publish_options *o, struct gr_publish_sides *sides,
                            const char *call)
{
    if (!gr_array_dtype(info->format))
        return gr_fail(GR_ERR_UNSUPPORTED, call,
                       "CUDA describes the image by format 0x%x, whose texels are packed or "
                       "compressed: it can be neither published to nor fetched.",
                       (unsigned)info->format);
    sides->is_volume = resource->image.is_3d;
    describe_image(info, sides->is_volume, o->level, &sides->mapped);
    sides->mapped.in_array = true;
    return GR_OK;
}

static gr_status check_image_options(const gr_resource *resource, const gr_publish_options *o,
                                     const char *call)
{
    GR_TRY(gr_image_check_range(resource, o->level, o->layer, call));
    if (o->offset || o->target)
        return gr_fail(
            GR_ERR_INVALID_VALUE, call,
            "`offset` and `target` are for buffers, but this is an image: leave them 0.");
    return GR_OK;
}

static gr_status look_at_image(gr_buffer *buffer, const gr_publish_options *o,
                               struct gr_publish_sides *sides, const char *call)
{
    gr_image_info info;
    GR_TRY(check_image_options(buffer->resource, o, call));
    GR_TRY(gr_image_query(buffer, &info));
    GR_TRY(read_image(buffer->resource, &info, o, sides, call));
    if (buffer->pitch) {
        sides->mapped.in_array = false;
        return take_linear(buffer, o, &sides->mapped, call);
    }
    sides->array.slice = info.layered ? o->layer : 0;
    GR_TRY(buffer->resource->backend->array(buffer->resource, o->level, o->layer,
                                            &sides->array.array));
    return look_at_array(&info, sides, call);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

/*
 * Describes the contents of the buffer by options->target; if it is NULL, the contents are like the
 * tensor.
 */
static gr_status describe_buffer(const gr_buffer *buffer, const struct gr_shaped *tensor,
                                 const gr_publish_options *o, struct gr_shaped *shaped,
                                 const char *call)
{
    gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = tensor->dtype, .ndim = tensor->ndim,
                                  .shape = tensor->shape, .layout = tensor->layout);
    struct gr_shape shape;
    GR_TRY(o->target ? GR_TAKE(gr_tensor_desc, &desc, o->target, call) : GR_OK);
    GR_TRY(gr_shape_init(&shape, &desc, call));
    if (desc.offset > SIZE_MAX - o->offset)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "The sum of `offset` and the offset of `target` is too large.");
    GR_TRY(gr_shape_check_room(&shape, o->offset + desc.offset, buffer->size, "buffer", call));
    *shaped = (struct gr_shaped){.what = "the buffer",
                                 .dtype = desc.dtype,
                                 .layout = desc.layout,
                                 .ndim = shape.ndim,
                                 .base = buffer->ptr + o->offset + desc.offset};
    memcpy(shaped->shape, shape.shape, sizeof(shaped->shape));
    memcpy(shaped->strides, shape.strides, sizeof(shaped->strides));
    settle_strides(shaped);
    return GR_OK;
}

/* Whether each element is copied to the same position, regardless of its meaning. */
static bool copies_by_element(const struct gr_shaped *tensor, const struct gr_shaped *buffer,
                              const gr_publish_options *o)
{
    const bool as_picture = o->bgr || o->flip || o->scale || o->bias || o->srgb || o->chroma;
    return !as_picture && tensor->layout == buffer->layout && tensor->ndim == buffer->ndim &&
           memcmp(tensor->shape, buffer->shape, tensor->ndim * sizeof(tensor->shape[0])) == 0;
}

static gr_status look_at_buffer(gr_buffer *buffer, const struct gr_shaped *tensor,
                                const gr_publish_options *o, struct gr_publish_sides *sides,
                                const char *call)
{
    struct gr_shaped shaped;
    if (o->level || o->layer)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "`level` and `layer` are for images, but this is a buffer: leave them 0.");
    GR_TRY(describe_buffer(buffer, tensor, o, &shaped, call));
    if (tensor->memory == GR_MEMORY_ARRAY || !copies_by_element(tensor, &shaped, o)) {
        GR_TRY(read_tensor(tensor, o, false, sides, call));
        return gr_picture_read(&shaped, NULL, false, &sides->mapped, call);
    }
    if (gr_pictures_of_elements(tensor, &shaped, &sides->tensor, &sides->mapped))
        return GR_OK;
    sides->tensor.shaped = *tensor;
    return gr_fail(GR_ERR_UNSUPPORTED, call,
                   "%s, with gaps between elements in more than three dimensions: copy it to a "
                   "compact tensor first (gr_tensor_clone()).",
                   GR_SENTENCE(&sides->tensor));
}

static gr_status read_for_image(const gr_tensor *tensor, const struct gr_shaped *shaped,
                                const gr_publish_options *o, struct gr_publish_sides *sides,
                                const char *call)
{
    if (sides->is_volume)
        GR_TRY(
            gr_tensor_refuse_array(tensor, "which a 3D image cannot be copied to or from", call));
    GR_TRY(read_tensor(shaped, o, sides->is_volume, sides, call));
    /* Integers in the tensor have the same meaning as in the image. */
    sides->tensor.is_number = sides->mapped.is_number;
    return GR_OK;
}

gr_status gr_publish_look(gr_buffer *buffer, const gr_tensor *tensor,
                          const gr_publish_options *options, struct gr_publish_sides *sides,
                          const char *call)
{
    const struct gr_shaped shaped = shape_of(tensor, "the tensor", options->layout);
    *sides = (struct gr_publish_sides){.is_volume = false};
    if (!buffer->resource->is_image)
        return look_at_buffer(buffer, &shaped, options, sides, call);
    GR_TRY(look_at_image(buffer, options, sides, call));
    return read_for_image(tensor, &shaped, options, sides, call);
}

gr_status gr_publish_foresee(gr_resource *resource, const gr_tensor *tensor,
                             const gr_publish_options *options, struct gr_publish_sides *sides,
                             bool *known, const char *call)
{
    gr_image_info info;
    const struct gr_shaped shaped = shape_of(tensor, "the tensor", options->layout);
    *sides = (struct gr_publish_sides){.is_volume = false};
    *known = true;
    if (!resource->is_image) {
        /*
         * Address 0 stands for the address of the unmapped buffer: it has the alignment of any
         * mapping.
         */
        gr_buffer all = {.resource = resource, .size = resource->size};
        return look_at_buffer(&all, &shaped, options, sides, call);
    }
    GR_TRY(check_image_options(resource, options, call));
    *known = gr_image_info_if_known(resource, &info);
    if (!*known)
        return GR_OK;
    GR_TRY(read_image(resource, &info, options, sides, call));
    return read_for_image(tensor, &shaped, options, sides, call);
}
