/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * OpenGL textures and renderbuffers as graphics resources. A resource has its own pages for all
 * levels and layers that the image had at its registration, and CUDA arrays in these pages. Pages
 * and arrays stay the same for all maps. While the resource is not mapped, the pages are
 * inaccessible. Map and unmap copy the pixels.
 *
 * As in the NVIDIA driver, an image has the target that the registering call names, and a full
 * chain of levels if the OpenGL image has more than one level. If OpenGL lacks parts of the image,
 * a map fills them with SOFT_GL_NO_BYTES, and an unmap drops them.
 *
 * As in the NVIDIA driver (580), the layers of a texture view are the first layers of its original,
 * and the arrays of single levels of a view after level 0 are in level 0 of the original. Through
 * the view OpenGL reaches none of these but layers that the view has, too.
 */
#include "softcuda/driver/graphics/gl_image.h"
#include "softcuda/driver/stream/scheduler.h"

#include <epoxy/gl.h>

#include <cudaGL.h>

#include <stdlib.h>
#include <string.h>

/* The offset of each level in the pages is a multiple of this. */
#define LEVEL_ALIGNMENT 512

static void *image_of(soft_graphics *resource)
{
    return resource;
}

/* ---- Map and unmap --------------------------------------------------------------------------- */

static GLenum kind_of(GLenum target)
{
    return target == GL_RENDERBUFFER ? GL_RENDERBUFFER : GL_TEXTURE;
}

/* False if the image was deleted, or if the texture has another type now. */
static bool begin(const soft_gl_image *image, soft_gl_pixels *pixels)
{
    if (!soft_gl_label_holds(&image->gl.label, kind_of(image->target), image->gl.name) ||
        soft_gl_pixels_begin(pixels, image->gl.name, image->target) != SOFT_GL_FOUND)
        return false;
    if (pixels->target == image->own_target)
        return true;
    soft_gl_pixels_end(pixels);
    return false;
}

/* If the name was deleted, there are no pixels to copy, as with buffers. */
static CUresult fetch_pixels(soft_graphics *resource)
{
    soft_gl_image *image = image_of(resource);
    if (!soft_gl_resource_is_read(&image->gl))
        return CUDA_SUCCESS;
    SOFT_TRY(soft_gl_resource_alloc_buffer(&image->gl));
    soft_gl_pixels pixels;
    if (!begin(image, &pixels)) {
        soft_log(SOFT_DEBUG, "%s is mapped although it was deleted", image->gl.name_text);
        memset(image->gl.fetched, SOFT_GL_NO_BYTES, image->gl.size);
        return CUDA_SUCCESS;
    }
    CUresult result = soft_gl_image_read(image, &pixels);
    soft_gl_pixels_end(&pixels);
    return result;
}

static CUresult fetch(soft_graphics *resource)
{
    return soft_gl_resource_visit(resource, fetch_pixels);
}

static void set_open(soft_gl_image *image, bool is_open)
{
    SOFT_LOCK(&image->lock);
    image->is_open = is_open;
    if (image->mipmap)
        soft_mipmap_set_mapped(image->mipmap, is_open);
    for (size_t i = 0; i < (size_t)image->level_count * image->layers; i++)
        if (image->arrays[i])
            soft_array_set_mapped(image->arrays[i], is_open);
}

static CUresult open_image(soft_graphics *resource, bool blank)
{
    soft_gl_image *image = image_of(resource);
    SOFT_TRY(soft_gl_resource_open(&image->gl, blank));
    set_open(image, true);
    return CUDA_SUCCESS;
}

static CUresult store_pixels(soft_graphics *resource)
{
    const soft_gl_image *image = image_of(resource);
    soft_gl_pixels pixels;
    if (begin(image, &pixels)) {
        soft_gl_image_write(image, &pixels);
        soft_gl_pixels_end(&pixels);
    }
    return CUDA_SUCCESS;
}

static void store(soft_graphics *resource)
{
    (void)soft_gl_resource_visit(resource, store_pixels);
}

static void close_image(soft_graphics *resource)
{
    soft_gl_image *image = image_of(resource);
    set_open(image, false);
    soft_gl_resource_close(&image->gl);
}

static void free_image(soft_graphics *resource)
{
    soft_gl_image *image = image_of(resource);
    soft_mipmap_unwrap(image->mipmap);
    for (size_t i = 0; image->arrays && i < (size_t)image->level_count * image->layers; i++)
        soft_array_unwrap(image->arrays[i]);
    pthread_mutex_destroy(&image->lock);
    free(image->arrays);
    soft_gl_resource_free(&image->gl, "an OpenGL image, after cuGraphicsUnregisterResource");
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static soft_array_place place_of(const soft_gl_image *image, unsigned layer, unsigned l)
{
    const soft_gl_image_level *level = &image->levels[l];
    size_t slice = soft_gl_image_slice(image, level);
    return (soft_array_place){.base = image->gl.pages + level->offset + layer * slice,
                              .row_pitch = level->width * image->element,
                              .slice_pitch = slice};
}

/* Creates the array of one layer of a level. This array is neither layered nor a cube. */
static CUresult make_array(soft_gl_image *image, unsigned layer, unsigned level, soft_array **array)
{
    const unsigned l = level - (unsigned)image->view.first_level;
    CUDA_ARRAY3D_DESCRIPTOR descriptor = image->descriptor;
    descriptor.Width = image->levels[l].width;
    descriptor.Height = image->levels[l].height;
    descriptor.Depth = image->target == GL_TEXTURE_3D ? image->levels[l].slices : 0;
    descriptor.Flags &= ~(unsigned)(CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    soft_array_place place = place_of(image, layer, l);
    if (image->view.first_level > 0)
        place.base = image->gl.pages + image->unreachable +
                     layer * soft_gl_image_slice(image, &image->levels[0]);
    SOFT_TRY(soft_array_wrap(image->gl.base.owned.context, &descriptor, &place, image->gl.name_text,
                             array));
    soft_array_set_mapped(*array, image->is_open);
    return CUDA_SUCCESS;
}

static CUresult get_array(soft_graphics *resource, unsigned layer, unsigned level, CUarray *handle)
{
    soft_gl_image *image = image_of(resource);
    SOFT_FAIL_IF(layer >= image->layers || level >= image->level_count ||
                     level < (unsigned)image->view.first_level,
                 CUDA_ERROR_INVALID_VALUE);
    soft_array **array = &image->arrays[(size_t)level * image->layers + layer];
    SOFT_LOCK(&image->lock);
    if (!*array)
        SOFT_TRY(make_array(image, layer, level, array));
    *handle = (*array)->owned.handle;
    return CUDA_SUCCESS;
}

static CUresult make_mipmap(soft_gl_image *image)
{
    soft_array_place places[SOFT_MAX_LEVELS];
    for (unsigned l = 0; l < image->level_count; l++)
        places[l] = place_of(image, 0, l);
    SOFT_TRY(soft_mipmap_wrap(image->gl.base.owned.context, &image->descriptor, image->level_count,
                              places, image->gl.name_text, &image->mipmap));
    /*
     * As in the NVIDIA driver, the descriptor of a cube's level has depth 0, although the level has
     * six slices.
     */
    for (unsigned l = 0; l < image->level_count; l++)
        image->mipmap->levels[l]->depth = image->levels[l].slices;
    soft_mipmap_set_mapped(image->mipmap, image->is_open);
    return CUDA_SUCCESS;
}

static CUresult get_mipmap(soft_graphics *resource, CUmipmappedArray *handle)
{
    soft_gl_image *image = image_of(resource);
    SOFT_LOCK(&image->lock);
    if (!image->mipmap)
        SOFT_TRY(make_mipmap(image));
    *handle = image->mipmap->owned.handle;
    return CUDA_SUCCESS;
}

/* ---- Registration ---------------------------------------------------------------------------- */

static const soft_graphics_ops ops = {
    .fetch = fetch,
    .open = open_image,
    .fill = soft_gl_resource_fill,
    .can_store = soft_gl_has_context,
    .store = store,
    .close = close_image,
    .can_end = soft_gl_has_context,
    .free = free_image,
    .array = get_array,
    .mipmap = get_mipmap,
};

static bool has_levels(unsigned target)
{
    return target != GL_TEXTURE_RECTANGLE && target != GL_RENDERBUFFER;
}

static unsigned level_count(const soft_gl_pixels *pixels, const soft_gl_image *image,
                            const soft_gl_level *base)
{
    unsigned longest = base->width > base->height ? base->width : base->height;
    if (image->target == GL_TEXTURE_3D && base->slices > longest)
        longest = base->slices;
    unsigned full = 1, in_gl = 1;
    while (longest >> full && full < SOFT_MAX_LEVELS)
        full++;
    for (unsigned l = 1; has_levels(image->target) && l < full; l++) {
        soft_gl_level level;
        soft_gl_pixels_describe(pixels, l, 0, &level);
        in_gl += level.width > 0;
    }
    if (image->view.original_levels > 1)
        return full + (unsigned)image->view.first_level;
    return in_gl > 1 ? full : 1;
}

static unsigned halved(unsigned size, unsigned level)
{
    return size >> level ? size >> level : 1;
}

static void describe(soft_gl_image *image, const soft_gl_level *base, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR *descriptor = &image->descriptor;
    *descriptor = (CUDA_ARRAY3D_DESCRIPTOR){.Width = base->width,
                                            .Height = base->height,
                                            .Format = image->format->format,
                                            .NumChannels = image->format->channels};
    image->layers = 1;
    if (flags & CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST)
        descriptor->Flags |= CUDA_ARRAY3D_SURFACE_LDST;
    if (flags & CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER)
        descriptor->Flags |= CUDA_ARRAY3D_TEXTURE_GATHER;
    if (image->target == GL_TEXTURE_3D) {
        descriptor->Depth = base->slices;
    } else if (image->target == GL_TEXTURE_CUBE_MAP) {
        descriptor->Flags |= CUDA_ARRAY3D_CUBEMAP;
        image->layers = 6;
    } else if (image->target == GL_TEXTURE_2D_ARRAY) {
        descriptor->Flags |= CUDA_ARRAY3D_LAYERED;
        descriptor->Depth = base->slices;
        image->layers = base->slices;
    }
}

static void add_bytes(soft_gl_image *image, size_t size)
{
    image->gl.size += (size + LEVEL_ALIGNMENT - 1) / LEVEL_ALIGNMENT * LEVEL_ALIGNMENT;
}

static void lay_out(soft_gl_image *image, const soft_gl_level *base)
{
    for (unsigned l = 0; l < image->level_count; l++) {
        soft_gl_image_level *level = &image->levels[l];
        level->width = halved(base->width, l);
        level->height = halved(base->height, l);
        level->slices = image->target == GL_TEXTURE_3D ? halved(base->slices, l) : image->layers;
        level->offset = image->gl.size;
        add_bytes(image, level->slices * soft_gl_image_slice(image, level));
    }
    image->unreachable = image->gl.size;
    if (image->view.first_level > 0)
        add_bytes(image, image->levels[0].slices * soft_gl_image_slice(image, &image->levels[0]));
}

static CUresult inspect(soft_gl_image *image, unsigned flags)
{
    soft_gl_pixels pixels;
    enum soft_gl_found found = soft_gl_pixels_begin(&pixels, image->gl.name, image->target);
    if (found != SOFT_GL_FOUND)
        return found == SOFT_GL_NO_SUCH_NAME ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    soft_gl_level base;
    soft_gl_pixels_describe(&pixels, 0, 0, &base);
    soft_gl_pixels_view(&pixels, &image->view);
    image->own_target = pixels.target;
    image->format = soft_gl_format_of(base.internal);
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    static int logged;
    if (soft_gl_is_es() && image->format && !base.multisampled &&
        !soft_gl_es_transfers(&pixels, image->format))
        result = soft_unsupported(&logged, "an OpenGL ES image of this format");
    else if (base.width > 0 && image->format && !base.multisampled) {
        image->element = soft_array_element(image->format->format, image->format->channels);
        image->level_count = level_count(&pixels, image, &base);
        describe(image, &base, flags);
        lay_out(image, &base);
        result = CUDA_SUCCESS;
    }
    soft_gl_pixels_end(&pixels);
    return result;
}

static CUresult allocate(soft_gl_image *image)
{
    image->arrays = calloc((size_t)image->level_count * image->layers, sizeof(soft_array *));
    SOFT_FAIL_IF(!image->arrays, CUDA_ERROR_OUT_OF_MEMORY);
    return soft_gl_resource_make(&image->gl,
                                 image->target == GL_RENDERBUFFER ? "renderbuffer" : "texture",
                                 "an array of it");
}

/* A GPU driver treats READ_ONLY together with WRITE_DISCARD like neither flag. */
static unsigned first_map_flags(unsigned flags)
{
    unsigned directions =
        flags & (CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY | CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD);
    return directions <= CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD
               ? directions
               : CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE;
}

static CUresult register_image(soft_context *context, const soft_gl_context *gl, unsigned name,
                               unsigned target, unsigned flags, CUgraphicsResource *handle)
{
    soft_gl_image *image = calloc(1, sizeof(*image));
    SOFT_FAIL_IF(!image, CUDA_ERROR_OUT_OF_MEMORY);
    image->gl.name = name;
    image->target = target;
    image->gl.context = *gl;
    pthread_mutex_init(&image->lock, NULL);
    CUresult result = inspect(image, flags);
    if (result == CUDA_SUCCESS) {
        soft_gl_label_take(&image->gl.label, kind_of(target), name);
        result = allocate(image);
    }
    if (result == CUDA_SUCCESS)
        result =
            soft_graphics_register(&image->gl.base, &ops, context, first_map_flags(flags), handle);
    if (result != CUDA_SUCCESS)
        free_image(&image->gl.base);
    return result;
}

SOFT_API cuGraphicsGLRegisterImage(CUgraphicsResource *pCudaResource, GLuint image, GLenum target,
                                   unsigned int Flags)
{
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    SOFT_TRY(soft_capture_check_unsafe());
    soft_gl_context gl;
    const unsigned known =
        CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY | CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD |
        CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST | CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER;
    SOFT_FAIL_IF(!pCudaResource || image == 0 || (Flags & ~known) ||
                     !soft_gl_target_registers(target) || !soft_gl_current(&gl),
                 CUDA_ERROR_INVALID_VALUE);
    static int renderbuffers_logged;
    if (!soft_gl_pixels_supported(target))
        return soft_unsupported(&renderbuffers_logged,
                                "renderbuffers in an OpenGL without glCopyImageSubData");
    return register_image(context, &gl, image, target, Flags, pCudaResource);
}
