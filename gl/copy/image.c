/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Images of the copy transport. Each layer has its own arrays, as in an image registered by the
 * interop transport, so that programs need not distinguish the two transports.
 */
#include "gl/copy/copy.h"

#include <stdint.h>

#include <epoxy/gl.h>

#include "lib/cuda/array_format.h"
#include "lib/cuda/copy_3d.h"
#include "lib/resource/backend.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/resource/image.h"
#include "lib/cuda/event.h"

/* The alignment of levels in host memory, for efficient copies between host and device. */
#define LEVEL_ALIGNMENT ((size_t)256)

/*
 * The size of one layer of a level, or of the region in it: in texels, and in bytes of a row in
 * CUDA and in OpenGL.
 */
struct extent {
    size_t width, height, depth, row, bytes;
};

/* The region that the map moves; NULL: all levels and layers. */
static const struct gr_region *region_of(const struct gl_resource *r)
{
    const gr_buffer *mapping = r->base.current;
    return mapping && mapping->has_region ? &mapping->region : NULL;
}

/* Data that a ring owes to the object is that of the whole image. */
bool gl_copy_moves_region(const gr_resource *resource, const struct gr_region *region)
{
    const gr_image_info *image = &resource->image;
    const bool is_whole = image->levels == 1 && image->layers == 1 &&
                          region->width == image->width && region->height == image->height;
    return !is_whole && !((const struct gl_resource *)resource)->copy->owed &&
           gl_texels_regions_supported();
}

static struct extent extent_of(const struct gl_resource *r, unsigned level)
{
    const gr_image_info *image = &r->base.image;
    struct extent e = {
        .width = gr_level_extent(image->width, level),
        .height = gr_level_extent(image->height, level),
        .depth = gr_level_extent(image->depth, level),
    };
    const struct gr_region *region = region_of(r);
    const unsigned integers = gl_transfer_of(r->format).integers;
    if (region) {
        e.width = region->width;
        e.height = region->height;
    }
    e.row = e.width * r->format->channels * gr_channel_bytes(r->format->format);
    e.bytes = (integers ? e.width * integers : e.row) * e.height * e.depth;
    return e;
}

gr_status gl_copy_image_check(const struct gl_resource *r, const char *call)
{
    if (!gl_transfer_supported(r->target))
        return gr_fail(GR_ERR_UNSUPPORTED, call,
                       "OpenGL renderbuffer %u cannot be copied by this OpenGL, which has no "
                       "glCopyImageSubData (OpenGL 4.3 or GL_ARB_copy_image). Use a GL_TEXTURE_2D.",
                       r->name);
    return GR_OK;
}

size_t gl_copy_image_layout(const struct gl_resource *r, size_t offsets[GL_COPY_MOST_LEVELS])
{
    size_t size = 0;
    for (unsigned level = 0; level < r->base.image.levels; level++) {
        offsets[level] = size;
        size += extent_of(r, level).bytes * r->base.image.layers;
        size = (size + LEVEL_ALIGNMENT - 1) / LEVEL_ALIGNMENT * LEVEL_ALIGNMENT;
    }
    return size;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static CUDA_ARRAY3D_DESCRIPTOR describe_layer(const struct gl_resource *r, unsigned flags)
{
    const gr_image_info *image = &r->base.image;
    CUDA_ARRAY3D_DESCRIPTOR described = {
        .Width = image->width,
        .Height = image->height,
        .Depth = r->base.is_3d ? image->depth : 0,
        .Format = r->format->format,
        .NumChannels = r->format->channels,
    };
    if (flags & GR_SURFACE_LOAD_STORE)
        described.Flags |= CUDA_ARRAY3D_SURFACE_LDST;
    if ((flags & GR_TEXTURE_GATHER) && !r->base.is_3d)
        described.Flags |= CUDA_ARRAY3D_TEXTURE_GATHER;
    return described;
}

static gr_status make_array(const CUDA_ARRAY3D_DESCRIPTOR *described, unsigned levels,
                            CUmipmappedArray *array, const struct gl_resource *r)
{
    GR_TRY_CUDA(gr_driver()->MipmappedArrayCreate(array, described, levels),
                "cuMipmappedArrayCreate",
                "%s: a CUDA array of %zu x %zu x %zu with %u level%s could not be created.",
                gl_object_text(&r->base).text, described->Width, described->Height,
                described->Depth, levels, gr_s(levels));
    return GR_OK;
}

size_t gl_copy_image_memory(const struct gl_resource *r)
{
    const struct extent e = extent_of(r, 0);
    return gl_transfer_of(r->format).integers ? e.row * e.height : 0;
}

gr_status gl_copy_image_allocate(struct gl_resource *r, struct gl_copy *copy, unsigned flags,
                                 const char *call)
{
    CUDA_ARRAY3D_DESCRIPTOR described = describe_layer(r, flags);
    for (unsigned i = 0; i < copy->layer_count; i++)
        GR_TRY(make_array(&described, r->base.image.levels, &copy->layers[i], r));
    return copy->ptr ? gl_depth_prepare(r, call) : GR_OK;
}

static gr_status level_of(CUmipmappedArray mipmapped, unsigned level, CUarray *array)
{
    GR_TRY_CUDA(gr_driver()->MipmappedArrayGetLevel(array, mipmapped, level),
                "cuMipmappedArrayGetLevel", "Level %u has no array.", level);
    return GR_OK;
}

gr_status gl_copy_image_array(const gr_resource *resource, unsigned level, unsigned layer,
                              CUarray *array)
{
    return level_of(((const struct gl_resource *)resource)->copy->layers[layer], level, array);
}

static gr_status copy_part(const CUDA_MEMCPY3D *copy, CUstream stream, const struct gl_resource *r)
{
    GR_TRY_WORK(gr_driver()->Memcpy3DAsync(copy, stream), "cuMemcpy3DAsync",
                "%s could not be copied.", gl_object_text(&r->base).text);
    return GR_OK;
}

/* ---- A mipmapped array of all layers --------------------------------------------------------- */

static gr_status make_whole(const struct gl_resource *r, struct gl_copy *copy)
{
    CUDA_ARRAY3D_DESCRIPTOR described = describe_layer(r, r->base.flags);
    described.Depth = copy->layer_count;
    described.Flags |= r->base.image.cube ? CUDA_ARRAY3D_CUBEMAP : CUDA_ARRAY3D_LAYERED;
    return make_array(&described, r->base.image.levels, &copy->whole, r);
}

static gr_status fill_whole_level(const struct gl_resource *r, unsigned level, CUstream stream)
{
    const struct gl_copy *c = r->copy;
    struct extent e = extent_of(r, level);
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .WidthInBytes = e.row,
                          .Height = e.height,
                          .Depth = 1};
    GR_TRY(level_of(c->whole, level, &copy.dstArray));
    for (unsigned layer = 0; layer < c->layer_count; layer++) {
        copy.dstZ = layer;
        GR_TRY(level_of(c->layers[layer], level, &copy.srcArray));
        GR_TRY(copy_part(&copy, stream, r));
    }
    return GR_OK;
}

static gr_status fill_whole(const struct gl_resource *r, CUstream stream)
{
    for (unsigned level = 0; level < r->base.image.levels; level++)
        GR_TRY(fill_whole_level(r, level, stream));
    return GR_OK;
}

gr_status gl_copy_image_mipmapped_array(const gr_resource *resource, CUmipmappedArray *array,
                                        const char *call)
{
    const struct gl_resource *r = (const struct gl_resource *)resource;
    struct gl_copy *copy = r->copy;
    gr_status status = GR_OK;
    *array = copy->layers[0];
    if (copy->layer_count == 1)
        return GR_OK;
    if (gr_resource_writes(resource))
        return gr_fail(GR_ERR_UNSUPPORTED, call,
                       "%s uses the %s transport, where each layer has its own memory. CUDA can "
                       "only read an array that has all layers. Register or map the image "
                       "read_only, or get the layers one at a time.",
                       gl_object_text(resource).text, resource->backend->name);
    if (!copy->whole) {
        status = make_whole(r, copy);
        if (status == GR_OK)
            status = fill_whole(r, resource->mapped->stream);
        if (status != GR_OK && copy->whole) {
            /* the stream may still copy into the array */
            (void)gr_stream_finish(resource->mapped->stream);
            gr_driver()->MipmappedArrayDestroy(copy->whole);
            copy->whole = NULL;
        }
    }
    *array = copy->whole;
    return status;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

/* Lists what a map moves: the region, or all levels. Returns the number. */
static size_t sources_of(const struct gl_resource *r,
                         struct gl_texel_source sources[GL_COPY_MOST_LEVELS])
{
    const struct gr_region whole = {.level = 0}, *region = region_of(r),
                           *part = region ? region : &whole;
    const size_t n = region ? 1 : r->base.image.levels;
    for (size_t i = 0; i < n; i++) {
        const unsigned level = part->level + (unsigned)i;
        const struct extent e = extent_of(r, level);
        sources[i] = (struct gl_texel_source){
            .target = r->target,
            .format = r->format,
            .name = r->name,
            .level = (int)level,
            .layer = (int)part->layer,
            .layers = (int)(region ? e.depth : e.depth * r->base.image.layers),
            .is_region = region,
            .x = (int)part->x,
            .y = (int)part->y,
            .width = (int)e.width,
            .height = (int)e.height,
            .pixel = (unsigned)(e.bytes / e.depth / e.height / e.width),
            .offset = region ? 0 : r->copy->offsets[i],
        };
    }
    return n;
}

void gl_copy_image_prepare(struct gl_resource *r)
{
    struct gl_texel_source sources[GL_COPY_MOST_LEVELS];
    if (!r->copy->staging || !gl_texels_suit_shader(sources, sources_of(r, sources)))
        return;
    GL_SAVED(before, GL_SAVE(ERRORS));
    r->shader = gl_shader_use(&r->context);
}

static unsigned scratch_of(const struct gl_resource *r)
{
    struct gl_names *names = r->copy->scratch;
    if (r->target->target == GL_RENDERBUFFER && !names->texture)
        names->texture =
            gl_texels_scratch(&r->context, (unsigned)r->level.internal, gl_transfer_of(r->format),
                              r->level.width, r->level.height);
    return names->texture;
}

void gl_copy_image_move(const struct gl_resource *r, bool read)
{
    const struct gl_copy *copy = r->copy;
    struct gl_texel_source sources[GL_COPY_MOST_LEVELS];
    const struct gl_texel_move move = {
        .context = &r->context,
        .shader = r->shader,
        .to_image = !read,
        .buffer = copy->staging ? copy->scratch->buffer : 0,
        .at = copy->staging ? gl_copy_offset(copy) : (uintptr_t)gl_copy_host(copy),
        .scratch = scratch_of(r),
    };
    (void)gl_texels_move(&move, sources, sources_of(r, sources));
}

/*
 * Copies one layer of a level, or the region, between its array and host memory, or memory of the
 * GPU that draws. Addresses are unified: both have the same value for CUDA and as a pointer.
 */
static gr_status stream_part(const struct gl_resource *r, unsigned level, unsigned layer,
                             unsigned char *host, bool up, CUstream stream)
{
    const CUdeviceptr depth = r->copy->ptr; /* 0: there is nothing to convert */
    const bool on_device = depth || r->copy->shared;
    const struct extent e = extent_of(r, level);
    CUarray array;
    GR_TRY(level_of(r->copy->layers[layer], level, &array));
    const struct gr_region *region = region_of(r);
    host += region ? 0 : r->copy->offsets[level] + layer * e.bytes;
    const size_t texels = e.width * e.height;
    struct gr_copy_side side = gr_copy_array(array, 0);
    side.x = region ? region->x * (e.row / e.width) : 0;
    side.y = region ? region->y : 0;
    const struct gr_copy_side linear = {
        .type = on_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST,
        .at = depth ? depth : (CUdeviceptr)(uintptr_t)host,
        .pitch = e.row,
        .rows = e.height,
    };
    const CUDA_MEMCPY3D copy =
        gr_copy_3d(up ? side : linear, up ? linear : side, e.row, e.height, e.depth);
    GR_TRY(depth && up ? gl_depth_convert(r, host, texels, up, stream) : GR_OK);
    GR_TRY(copy_part(&copy, stream, r));
    return depth && !up ? gl_depth_convert(r, host, texels, up, stream) : GR_OK;
}

gr_status gl_copy_image_stream(const struct gl_resource *r, bool up, CUstream stream)
{
    const struct gr_region *region = region_of(r);
    if (region)
        return stream_part(r, region->level, region->layer, gl_copy_host(r->copy), up, stream);
    for (unsigned level = 0; level < r->base.image.levels; level++)
        for (unsigned layer = 0; layer < r->base.image.layers; layer++)
            GR_TRY(stream_part(r, level, layer, gl_copy_host(r->copy), up, stream));
    return up && r->copy->whole ? fill_whole(r, stream) : GR_OK;
}
