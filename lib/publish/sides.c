/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Describes tensors, mapped images and parts of mapped buffers, each as a gr_picture. */
#include "lib/publish/publish.h"

#include <string.h>

#include "lib/resource/backend.h"
#include "lib/base/error.h"
#include "lib/resource/image.h"
#include "lib/base/struct_size.h"
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
    int64_t inner = (int64_t)gr_dtype_size(shaped->dtype);
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
                             struct gr_publish_sides *sides)
{
    struct gr_shaped u, v;
    if (o->chroma)
        u = shape_of(o->chroma, "`chroma`", GR_LAYOUT_SHAPE);
    if (o->chroma_v)
        v = shape_of(o->chroma_v, "`chroma_v`", GR_LAYOUT_SHAPE);
    return gr_picture_read(shaped, o->chroma ? &u : NULL, o->chroma_v ? &v : NULL,
                           o->columns ? GR_LAYERS : sides->slices, &sides->tensor);
}

gr_status gr_publish_divide(const gr_publish_options *o, struct gr_publish_sides *sides)
{
    const struct gr_picture *tile = &sides->tensor;
    struct gr_picture *mapped = &sides->mapped;
    const int64_t columns = o->columns, rows = (tile->depth + columns - 1) / columns;
    GR_REFUSE_IF(mapped->is_yuv, "%s, which has no tiles: publish RGB, or set `columns` to 0.",
                 GR_SENTENCE(mapped));
    GR_REFUSE_IF(mapped->width != columns * tile->width || mapped->height != rows * tile->height,
                 "%s, and %s: %lld tile%s of %lld x %lld in %lld column%s need %lld x %lld, but "
                 "there are %lld x %lld. Choose another number of `columns`, or %s.",
                 GR_SENTENCE(tile), GR_PHRASE(mapped), (long long)tile->depth,
                 gr_s((size_t)tile->depth), (long long)tile->width, (long long)tile->height,
                 (long long)columns, gr_s(o->columns), (long long)(columns * tile->width),
                 (long long)(rows * tile->height), (long long)mapped->width,
                 (long long)mapped->height,
                 mapped->is_image ? "a rectangle" : "another shape of `target`");
    mapped->columns = o->columns;
    sides->is_part = sides->is_part || tile->depth % columns;
    return GR_OK;
}

/* ---- Images ---------------------------------------------------------------------------------- */

/* Refuses a level, layers, slices or a rectangle that the image does not have. */
static gr_status find_region(const gr_resource *resource, const gr_publish_options *o,
                             struct gr_publish_sides *sides)
{
    struct gr_region *region = &sides->region;
    const bool all = o->layer == GR_ALL_LAYERS;
    unsigned depth = o->depth;
    GR_TRY(gr_image_check_range(resource, o->level, all ? 0 : o->layer));
    GR_REFUSE_IF(all && o->layers,
                 "`layer` is GR_ALL_LAYERS, but `layers` is %u: set `layer` to the first of them.",
                 o->layers);
    GR_TRY(gr_image_check_slices(resource, o->level, o->z, &depth, all ? 0 : o->layer, o->layers));
    *region = (struct gr_region){.level = o->level,
                                 .layer = all ? 0 : o->layer,
                                 .layers = all         ? resource->image.layers
                                           : o->layers ? o->layers
                                                       : 1,
                                 .z = o->z,
                                 .depth = depth,
                                 .x = o->x,
                                 .y = o->y,
                                 .width = o->width,
                                 .height = o->height};
    GR_TRY(gr_image_check_rectangle(resource, region));
    sides->is_part = region->width != gr_level_extent(resource->image.width, o->level) ||
                     region->height != gr_level_extent(resource->image.height, o->level) || o->z ||
                     (resource->is_3d && depth != gr_level_extent(resource->image.depth, o->level));
    return GR_OK;
}

static bool has_part(const gr_publish_options *o)
{
    return o->x || o->y || o->width || o->height || o->z || o->depth;
}

/* A format whose texels kernels access as one word. */
struct packed {
    unsigned format;
    uint8_t element; /* an enum gr_job_element */
    gr_dtype dtype;  /* like its channels */
    const char *what;
};

static const struct packed *packed_of(const gr_image_info *info)
{
#define TEN    GR_DTYPE_U16, "the 10:10:10:2 image"
#define FLOATS GR_DTYPE_F16
#define SIX    GR_DTYPE_U8, "the 5:6:5 image"
    static const struct packed formats[] = {
        {GR_FORMAT_UNORM_INT_101010_2, GR_JOB_A2B10G10R10, TEN},
        {GR_FORMAT_A2B10G10R10, GR_JOB_A2B10G10R10, TEN},
        {GR_FORMAT_A2R10G10B10, GR_JOB_A2R10G10B10, TEN},
        {GR_FORMAT_B10G11R11, GR_JOB_B10G11R11, FLOATS, "the 11:11:10 image"},
        {GR_FORMAT_E5B9G9R9, GR_JOB_E5B9G9R9, FLOATS, "the 9:9:9:5 image"},
        {GR_FORMAT_R5G6B5, GR_JOB_R5G6B5, SIX},
        {GR_FORMAT_B5G6R5, GR_JOB_B5G6R5, SIX},
    };
#undef TEN
#undef FLOATS
#undef SIX
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (formats[i].format == info->format)
            return &formats[i];
    return NULL;
}

static gr_status describe_image(const gr_image_info *info, enum gr_slices slices,
                                const struct gr_region *region, struct gr_picture *p)
{
    const size_t texel = info->texel_bytes;
    const struct packed *packed = packed_of(info);
    const gr_dtype dtype = packed ? packed->dtype : gr_array_dtype(info->format);
    if (!dtype)
        return gr_image_refuse_compressed(info->format);
    *p = (struct gr_picture){
        .dtype = dtype,
        .packed = packed ? packed->element : 0,
        .is_number = !packed && gr_format_is_integer(info->format, info->normalized),
        .x = (int64_t)region->x,
        .y = (int64_t)region->y,
        .width = (int64_t)region->width,
        .height = (int64_t)region->height,
        .depth = (int64_t)region->depth * region->layers,
        .channels = info->channels,
        .pixel = (int64_t)texel,
        .channel = (int64_t)(packed ? texel : texel / info->channels),
        .is_image = true,
        .in_array = true,
    };
    struct gr_shaped *shaped = &p->shaped;
    *shaped = (struct gr_shaped){.what = packed ? packed->what : "the image", .dtype = p->dtype};
    if (slices != GR_ONE_SLICE)
        shaped->shape[shaped->ndim++] = p->depth;
    shaped->shape[shaped->ndim++] = p->height;
    shaped->shape[shaped->ndim++] = p->width;
    shaped->shape[shaped->ndim++] = (int64_t)p->channels;
    return GR_OK;
}

/* Describes linear memory, which contains only the level and layer that were mapped. */
static gr_status take_linear(const gr_buffer *buffer, const struct gr_region *r,
                             struct gr_picture *p)
{
    GR_REFUSE_IF(buffer->level != r->level || buffer->layer != r->layer || r->layers > 1,
                 "gr_map_linear() mapped level %u, layer %u, but the options name level %u, %u "
                 "layer%s from %u on: use gr_map(), which maps all of them.",
                 buffer->level, buffer->layer, r->level, r->layers, gr_s(r->layers), r->layer);
    p->in_array = false;
    p->row = (int64_t)buffer->pitch;
    p->slice = p->row * (int64_t)gr_level_extent(buffer->resource->image.height, r->level);
    p->base = buffer->ptr + (uint64_t)(r->z * p->slice + p->y * p->row + p->x * p->pixel);
    return GR_OK;
}

static gr_status read_image(const gr_resource *resource, const gr_buffer *buffer,
                            const gr_publish_options *o, struct gr_publish_sides *sides)
{
    gr_image_info info;
    GR_TRY(find_region(resource, o, sides));
    GR_REFUSE_IF(o->offset || o->target,
                 "`offset` and `target` are for buffers, but this is an image: omit them.");
    sides->slices = resource->is_3d && o->depth != 1         ? GR_SLICES_OF_3D
                    : o->layer == GR_ALL_LAYERS || o->layers ? GR_LAYERS
                                                             : GR_ONE_SLICE;
    GR_REFUSE_IF(o->columns && sides->slices != GR_ONE_SLICE,
                 "`columns` is set, but tiles are in one layer or slice: leave it 0, or choose the "
                 "layer by `layer` alone, and the slice by `z` and a `depth` of 1.");
    sides->is_known = gr_image_info_if_known(resource, &info);
    if (!sides->is_known && !buffer)
        return GR_OK;
    if (!sides->is_known)
        GR_TRY(gr_image_query(buffer, &info));
    sides->is_known = true;
    GR_TRY(describe_image(&info, sides->slices, &sides->region, &sides->mapped));
    if (has_part(o))
        sides->mapped.shaped.what =
            o->z || o->depth ? "the part of the image" : "the rectangle of the image";
    return GR_OK;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

/*
 * Describes the contents of the buffer by options->target; if it is NULL, the contents are like the
 * tensor.
 */
static gr_status describe_buffer(size_t size, const struct gr_shaped *tensor,
                                 const gr_publish_options *o, struct gr_shaped *shaped)
{
    gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = tensor->dtype, .ndim = tensor->ndim,
                                  .shape = tensor->shape, .layout = tensor->layout);
    struct gr_shape shape;
    GR_TRY(o->target ? GR_TAKE(gr_tensor_desc, &desc, o->target) : GR_OK);
    GR_TRY(gr_shape_init(&shape, &desc));
    GR_REFUSE_IF(desc.offset > SIZE_MAX - o->offset,
                 "The sum of `offset` and the offset of `target` is too large.");
    GR_TRY(gr_shape_check_room(&shape, o->offset + desc.offset, size, "buffer"));
    *shaped = (struct gr_shaped){.what = "the buffer",
                                 .dtype = desc.dtype,
                                 .layout = desc.layout,
                                 .ndim = shape.ndim,
                                 .base = o->offset + desc.offset};
    memcpy(shaped->shape, shape.shape, sizeof(shaped->shape));
    memcpy(shaped->strides, shape.strides, sizeof(shaped->strides));
    settle_strides(shaped);
    return GR_OK;
}

/* Whether each element is copied to the same position, regardless of its meaning. */
static bool copies_by_element(const struct gr_shaped *tensor, const struct gr_shaped *buffer,
                              const gr_publish_options *o)
{
    const bool as_picture = o->columns || o->bgr || o->flip || o->scale || o->scale_f64 ||
                            o->bias || o->bias_f64 || o->srgb || o->chroma;
    return !as_picture && tensor->layout == buffer->layout && tensor->ndim == buffer->ndim &&
           memcmp(tensor->shape, buffer->shape, tensor->ndim * sizeof(tensor->shape[0])) == 0;
}

static gr_status read_buffer(size_t size, const struct gr_shaped *tensor,
                             const gr_publish_options *o, struct gr_publish_sides *sides)
{
    struct gr_shaped shaped;
    GR_REFUSE_IF(
        o->level || o->layer || o->layers,
        "`level` and `layer` are for images, but this is a buffer: leave them and `layers` "
        "0.");
    GR_REFUSE_IF(has_part(o),
                 "`x`, `y`, `width` and `height` are for images, but this is a buffer: leave them, "
                 "`z` and `depth` 0, and describe a part of it by an offset, a shape and strides.");
    GR_REFUSE_IF(o->columns && !o->target,
                 "`columns` is set, but `target` is NULL: describe the whole picture of tiles in "
                 "the buffer by `target`.");
    GR_TRY(describe_buffer(size, tensor, o, &shaped));
    if (tensor->memory == GR_MEMORY_ARRAY || !copies_by_element(tensor, &shaped, o)) {
        GR_TRY(read_tensor(tensor, o, sides));
        return gr_picture_read(&shaped, NULL, NULL, GR_ONE_SLICE, &sides->mapped);
    }
    if (gr_pictures_of_elements(tensor, &shaped, &sides->tensor, &sides->mapped))
        return GR_OK;
    sides->tensor.shaped = *tensor;
    return gr_fail(GR_ERR_UNSUPPORTED,
                   "%s, with gaps between elements in more than three dimensions: copy it to a "
                   "compact tensor first (gr_tensor_clone()).",
                   GR_SENTENCE(&sides->tensor));
}

gr_status gr_publish_locate(const gr_buffer *buffer, struct gr_publish_sides *sides)
{
    const gr_resource *resource = buffer->resource;
    const struct gr_region *r = &sides->region;
    struct gr_picture *p = &sides->mapped;
    CUarray array;
    if (buffer->pitch)
        return take_linear(buffer, r, p);
    if (!resource->is_image) {
        p->base += buffer->ptr;
        p->chroma.u.base += buffer->ptr;
        p->chroma.v.base += buffer->ptr;
        return GR_OK;
    }
    /* the array of the level, or those of its layers */
    GR_TRY(resource->backend->array(resource, r->level, r->layer, &array));
    p->base = (uintptr_t)array;
    p->array_slice = resource->image.layered ? r->layer : r->z;
    sides->arrays = resource->image.layered ? 1 : r->layers;
    return GR_OK;
}

gr_status gr_publish_describe(const gr_resource *resource, const gr_buffer *buffer,
                              const gr_tensor *tensor, const gr_publish_options *options,
                              struct gr_publish_sides *sides)
{
    const struct gr_shaped shaped = shape_of(tensor, "the tensor", options->layout);
    *sides = (struct gr_publish_sides){.is_known = true, .arrays = 1};
    if (!resource->is_image)
        return read_buffer(buffer ? buffer->size : resource->size, &shaped, options, sides);
    GR_TRY(read_image(resource, buffer, options, sides));
    if (!sides->is_known)
        return GR_OK;
    if (sides->slices != GR_ONE_SLICE)
        GR_TRY(gr_tensor_refuse_array(
            tensor, "which a 3D image or all layers cannot be copied to or from"));
    GR_TRY(read_tensor(&shaped, options, sides));
    /* integers have the same meaning on both sides */
    sides->tensor.is_number = sides->mapped.is_number;
    return GR_OK;
}
