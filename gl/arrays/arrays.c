/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "gl/arrays/arrays.h"

#include <stdint.h>
#include <stdlib.h>

#include <epoxy/gl.h>

#include "lib/resource/backend.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"
#include "gl/context/saved_state.h"

/* What a map moves of a level, which may be a region of it. */
struct extent {
    size_t width;         /* in texels */
    struct gr_level size; /* of one layer in CUDA */
    size_t bytes;         /* of one layer in linear memory */
};

/* The region that the map moves; NULL: all levels and layers. */
static const struct gr_region *region_of(const struct gl_resource *r)
{
    const gr_buffer *mapping = r->base.current;
    return mapping && mapping->has_region ? &mapping->region : NULL;
}

/* The texels in linear memory: those of CUDA, or the integers of depth that CUDA converts. */
static struct gr_element stored_element(const struct gl_resource *r)
{
    const unsigned integers = gl_transfer_integers(r->format);
    return integers ? (struct gr_element){integers, 1}
                    : gr_format_element(r->format->format, r->format->channels);
}

static struct extent extent_of(const struct gl_resource *r, unsigned level)
{
    const struct gr_element element = gr_format_element(r->format->format, r->format->channels);
    const struct gr_region *region = region_of(r);
    struct extent e = {.size = gr_level_of(&r->base.image, element, level)};
    if (region) {
        e.size.row = region->width * element.bytes;
        e.size.rows = region->height;
        e.size.slices = region->depth;
    }
    e.width = e.size.row / element.bytes;
    e.bytes = e.width * stored_element(r).bytes * e.size.rows * e.size.slices;
    return e;
}

static gr_status refuse_es(const struct gl_resource *r, const struct gl_stored *stored, bool reads,
                           bool writes)
{
    const char *other = gl_format_for_es(r->format, stored);
    if (r->format->depth)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "%s has the format %s, which GR_TRANSPORT_COPY cannot copy: OpenGL ES "
                       "cannot read depth. Use %s.",
                       gl_object_text(&r->base).text, r->format->name, r->format->instead_es);
    return gr_fail(GR_ERR_UNSUPPORTED,
                   "%s has the format %s, which GR_TRANSPORT_COPY cannot copy: OpenGL ES cannot %s "
                   "its texels as CUDA has them. Use %s%s.",
                   gl_object_text(&r->base).text, r->format->name, reads ? "write" : "read",
                   reads    ? "GR_READ_ONLY, or "
                   : writes ? "GR_WRITE_DISCARD, or "
                            : "",
                   other ? other : "a format that OpenGL ES draws to");
}

/*
 * Checks whether OpenGL ES can move the texels. Always tries to read, which leaves an error if the
 * context is lost, where queries return 0.
 */
static gr_status check_es(const struct gl_resource *r, unsigned flags)
{
    const struct gl_texel_source base = {.target = r->target, .format = r->format, .name = r->name};
    struct gl_stored stored;
    GL_SAVED(before, GL_SAVE(ERRORS));
    gl_image_stored(r->name, r->target->target, &stored);
    const bool reads = gl_es_reads(&base);
    const bool writes = stored.bits[0] && (r->format->channels != 4 || stored.bits[3]);
    const GLenum error = gl_errors_take();
    if (error != GL_NO_ERROR)
        return GL_FAIL(error, "glCheckFramebufferStatus",
                       "%s: OpenGL does not report whether %s can "
                       "be read.",
                       gr_call, gl_object_text(&r->base).text);
    if (!r->format->depth && (reads || flags & GR_WRITE_DISCARD) &&
        (writes || flags & GR_READ_ONLY))
        return GR_OK;
    return refuse_es(r, &stored, reads, writes);
}

static gr_status check(const struct gl_resource *r, unsigned flags)
{
    if (!gl_transfer_supported(r->target))
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "OpenGL renderbuffer %u cannot be copied by this OpenGL, which has no "
                       "glCopyImageSubData (OpenGL 4.3, OpenGL ES 3.2 or GL_ARB_copy_image). Use a "
                       "GL_TEXTURE_2D.",
                       r->name);
    /* Mesa (22.3) creates such renderbuffers without storage, and crashes when they are copied */
    if (r->target->target == GL_RENDERBUFFER && r->format->internal == GL_RGB9_E5)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "OpenGL renderbuffer %u has the format GL_RGB9_E5, which OpenGL cannot draw "
                       "to. Use a GL_TEXTURE_2D.",
                       r->name);
    return r->context.es ? check_es(r, flags) : GR_OK;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static CUDA_ARRAY3D_DESCRIPTOR describe_layer(const struct gl_resource *r, unsigned flags)
{
    const gr_image_info *image = &r->base.image;
    CUDA_ARRAY3D_DESCRIPTOR described = {
        .Width = image->width,
        .Height = image->height,
        .Depth = r->base.is_3d ? image->depth : 0,
    };
    gr_array_set_format(&described, r->format->format, r->format->channels);
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

gr_status gl_arrays_memory(CUdeviceptr *memory, size_t size, const struct gl_resource *r)
{
    GR_TRY_CUDA(gr_driver()->MemAlloc(memory, size), "cuMemAlloc",
                "%s: %zu byte%s of device memory for the copy of %s could not be allocated.",
                gr_call, size, gr_s(size), gl_object_text(&r->base).text);
    return GR_OK;
}

static gr_status allocate(struct gl_resource *r, struct gl_arrays *arrays, unsigned flags)
{
    const CUDA_ARRAY3D_DESCRIPTOR described = describe_layer(r, flags);
    if (gl_transfer_integers(r->format)) {
        const struct gr_level size = extent_of(r, 0).size;
        GR_TRY(gl_arrays_memory(&arrays->depth, size.row * size.rows, r));
        GR_TRY(gl_depth_prepare(r, arrays));
    }
    for (unsigned i = 0; i < arrays->count; i++)
        GR_TRY(make_array(&described, r->base.image.levels, &arrays->layers[i], r));
    return GR_OK;
}

struct gl_arrays *gl_arrays_make(struct gl_resource *r, unsigned flags)
{
    const unsigned layers = r->base.image.layers;
    struct gl_arrays *arrays = NULL;
    if (check(r, flags) != GR_OK)
        return NULL;
    arrays = gr_check_memory(calloc(1, sizeof(*arrays) + layers * sizeof(arrays->layers[0])));
    if (!arrays)
        return NULL;
    arrays->count = layers;
    arrays->size = gr_lay_out(&r->base.image, stored_element(r), arrays->offsets);
    if (allocate(r, arrays, flags) == GR_OK)
        return arrays;
    gl_arrays_end(arrays, true);
    return NULL;
}

void gl_arrays_end(struct gl_arrays *arrays, bool alive)
{
    const struct gr_driver_api *cu = gr_driver();
    if (!arrays)
        return;
    for (unsigned i = 0; alive && i < arrays->count; i++)
        if (arrays->layers[i])
            cu->MipmappedArrayDestroy(arrays->layers[i]);
    if (alive && arrays->whole)
        cu->MipmappedArrayDestroy(arrays->whole);
    if (alive && arrays->depth)
        cu->MemFree(arrays->depth);
    free(arrays);
}

gr_status gl_arrays_array(const gr_resource *resource, unsigned level, unsigned layer,
                          CUarray *array)
{
    return gr_level_array(gl_of(resource)->arrays->layers[layer], level, array);
}

/* ---- A mipmapped array of all layers --------------------------------------------------------- */

static gr_status make_whole(const struct gl_resource *r, struct gl_arrays *arrays)
{
    CUDA_ARRAY3D_DESCRIPTOR described = describe_layer(r, r->base.flags);
    described.Depth = arrays->count;
    described.Flags |= r->base.image.cube ? CUDA_ARRAY3D_CUBEMAP : CUDA_ARRAY3D_LAYERED;
    return make_array(&described, r->base.image.levels, &arrays->whole, r);
}

static gr_status fill_whole(const struct gl_resource *r, CUstream stream)
{
    const struct gl_arrays *a = r->arrays;
    for (unsigned level = 0; level < r->base.image.levels; level++) {
        const struct extent e = extent_of(r, level);
        CUarray whole, array;
        GR_TRY(gr_level_array(a->whole, level, &whole));
        for (unsigned layer = 0; layer < a->count; layer++) {
            GR_TRY(gr_level_array(a->layers[layer], level, &array));
            GR_TRY(gr_copy_level(&r->base, gr_copy_array(whole, layer), gr_copy_array(array, 0),
                                 e.size, stream));
        }
    }
    return GR_OK;
}

gr_status gl_arrays_mipmapped_array(const gr_resource *resource, CUmipmappedArray *array)
{
    const struct gl_resource *r = gl_of(resource);
    struct gl_arrays *arrays = r->arrays;
    gr_status status = GR_OK;
    *array = arrays->layers[0];
    if (arrays->count == 1 && r->target->target != GL_TEXTURE_2D_ARRAY)
        return GR_OK;
    if (gr_resource_writes(resource))
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "%s uses the %s transport, where each layer has its own memory. CUDA can "
                       "only read an array that has all layers. Register or map the image "
                       "read_only, or get the layers one at a time.",
                       gl_object_text(resource).text, resource->backend->name);
    if (!arrays->whole) {
        status = make_whole(r, arrays);
        if (status == GR_OK)
            status = fill_whole(r, resource->mapped->stream);
        if (status != GR_OK && arrays->whole) {
            /* the stream may still copy into the array */
            (void)gr_stream_finish(resource->mapped->stream);
            gr_driver()->MipmappedArrayDestroy(arrays->whole);
            arrays->whole = NULL;
        }
    }
    *array = arrays->whole;
    return status;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

/* Lists what a map moves: the region, or all levels. Returns the number. */
static size_t sources_of(const struct gl_resource *r,
                         struct gl_texel_source sources[GR_MOST_LEVELS])
{
    const struct gr_region whole = {.layers = r->base.image.layers}, *region = region_of(r),
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
            .layer = (int)(part->layer + part->z),
            .layers = (int)(e.size.slices * part->layers),
            .is_region = region,
            .x = (int)part->x,
            .y = (int)part->y,
            .width = (int)e.width,
            .height = (int)e.size.rows,
            .pixel = stored_element(r).bytes,
            .offset = region ? 0 : r->arrays->offsets[i],
        };
    }
    return n;
}

void gl_arrays_prepare(struct gl_resource *r)
{
    struct gl_texel_source sources[GR_MOST_LEVELS];
    if (!gl_texels_suit_shader(sources, sources_of(r, sources)))
        return;
    GL_SAVED(before, GL_SAVE(ERRORS));
    r->shader = gl_shader_use(&r->context);
}

static unsigned scratch_of(const struct gl_resource *r, struct gl_names *names)
{
    if (r->target->target == GL_RENDERBUFFER && !names->texture)
        names->texture =
            gl_texels_scratch(&r->context, (unsigned)r->level.internal, gl_transfer_of(r->format),
                              r->level.width, r->level.height);
    return names->texture;
}

void gl_arrays_drop_scratch(const struct gl_resource *r, struct gl_names *names)
{
    if (r->target->target == GL_RENDERBUFFER) {
        glDeleteTextures(1, &names->texture);
        names->texture = 0;
    }
}

static bool is_unsettled(const struct gl_resource *r)
{
    return r->base.image.levels > 1 && !r->context.es &&
           (r->context.version >= 44 || epoxy_has_gl_extension("GL_ARB_clear_texture"));
}

void gl_arrays_move(const struct gl_resource *r, struct gl_place place, struct gl_names *names,
                    bool read)
{
    struct gl_texel_source sources[GR_MOST_LEVELS];
    const struct gl_texel_move move = {.context = &r->context,
                                       .shader = r->shader,
                                       .to_image = !read,
                                       .buffer = place.buffer,
                                       .at = place.buffer ? place.offset : (uintptr_t)place.cuda,
                                       .word = place.of_cuda ? &names->buffer : NULL,
                                       .settles = !read && is_unsettled(r),
                                       .scratch = scratch_of(r, names)};
    gl_texels_move(&move, sources, sources_of(r, sources));
}

/* Copies one layer of a level, or of the region, between its array and linear memory. */
static gr_status stream_part(const struct gl_resource *r, unsigned level, unsigned layer,
                             struct gl_place place, bool up, CUstream stream)
{
    const struct gl_arrays *a = r->arrays;
    const struct extent e = extent_of(r, level);
    const size_t texels = e.width * e.size.rows;
    const struct gr_region *region = region_of(r);
    const CUdeviceptr at = place.cuda + (region ? (layer - region->layer) * e.bytes
                                                : a->offsets[level] + layer * e.bytes);
    const struct gr_copy_side memory = gr_copy_linear(a->depth ? a->depth : at, e.size);
    CUarray array;
    GR_TRY(gr_level_array(a->layers[layer], level, &array));
    struct gr_copy_side side = gr_copy_array(array, region ? region->z : 0);
    side.x = region ? region->x * (e.size.row / e.width) : 0;
    side.y = region ? region->y : 0;
    GR_TRY(a->depth && up ? a->convert_depth(r, at, texels, up, stream) : GR_OK);
    GR_TRY(gr_copy_level(&r->base, up ? side : memory, up ? memory : side, e.size, stream));
    return a->depth && !up ? a->convert_depth(r, at, texels, up, stream) : GR_OK;
}

gr_status gl_arrays_stream(const struct gl_resource *r, struct gl_place place, bool up,
                           CUstream stream)
{
    const struct gr_region *region = region_of(r);
    for (unsigned i = 0; region && i < region->layers; i++)
        GR_TRY(stream_part(r, region->level, region->layer + i, place, up, stream));
    if (region)
        return GR_OK;
    for (unsigned level = 0; level < r->base.image.levels; level++)
        for (unsigned layer = 0; layer < r->base.image.layers; layer++)
            GR_TRY(stream_part(r, level, layer, place, up, stream));
    return up && r->arrays->whole ? fill_whole(r, stream) : GR_OK;
}
