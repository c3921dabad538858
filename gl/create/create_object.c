/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Creates OpenGL objects to share with CUDA: chooses the transport, and allocates ordinary storage
 * for interop and copy. Creates buffers in the memory of tensors.
 */
#include <stdint.h>
#include <stdlib.h>

#include <epoxy/gl.h>

#include "lib/resource/backend.h"
#include "lib/base/error.h"
#include "lib/external/external.h"
#include "lib/base/flags.h"
#include "lib/base/struct_size.h"
#include "lib/resource/choose_transport.h"
#include "lib/tensor/tensor.h"
#include "gl/context/saved_state.h"
#include "gl/format/format.h"
#include "gl/create/create.h"
#include "gl/memory/memory.h"
#include "gl/staging/staging.h"

/* ---- Plain storage, for interop and copy ----------------------------------------------------- */

static gr_status make_buffer(struct gl_names *names, size_t size, GLbitfield storage)
{
    glCreateBuffers(1, &names->buffer);
    glNamedBufferStorage(names->buffer, (GLsizeiptr)size, NULL, GL_DYNAMIC_STORAGE_BIT | storage);
    GLenum error = gl_errors_take();
    if (error == GL_NO_ERROR)
        return GR_OK;
    return GL_FAIL(error, "glNamedBufferStorage",
                   "%s: OpenGL created no buffer of %zu byte%s. Is there memory left (nvidia-smi)?",
                   gr_call, size, gr_s(size));
}

static gr_status make_texture(struct gl_names *names, const gr_gl_image_desc *info)
{
    GLsizei levels = (GLsizei)info->levels, width = (GLsizei)info->width;
    GLsizei height = (GLsizei)info->height, depth = (GLsizei)info->depth;
    glCreateTextures(info->target, 1, &names->texture);
    if (info->target == GL_TEXTURE_3D || info->target == GL_TEXTURE_2D_ARRAY)
        glTextureStorage3D(names->texture, levels, info->internal_format, width, height, depth);
    else
        glTextureStorage2D(names->texture, levels, info->internal_format, width, height);
    GLenum error = gl_errors_take();
    if (error == GL_NO_ERROR)
        return GR_OK;
    return GL_FAIL(error, "glTextureStorage",
                   "%s: OpenGL created no texture of format 0x%x, %u x %u x %u texels with %u "
                   "level%s. Does this OpenGL have the format, and is the size supported "
                   "(GL_MAX_TEXTURE_SIZE)?",
                   gr_call, info->internal_format, info->width, info->height, info->depth,
                   info->levels, gr_s(info->levels));
}

/*
 * Returns the storage flags. For objects of medium size that CUDA writes with the copy transport,
 * the flags keep the storage mapped, if OpenGL can, so that CUDA copies directly into the storage.
 */
static GLbitfield storage_for(const struct gl_context *context, const struct gl_wish *wish,
                              gr_transport transport)
{
    if (transport == GR_TRANSPORT_COPY && !(wish->flags & GR_READ_ONLY) &&
        !gl_copy_by_cpu(wish->size, wish->flags) && wish->size <= GL_COPY_IN_PLACE &&
        gl_staging_supported(context))
        return gl_staging_storage_flags();
    return GL_MAP_READ_BIT | GL_MAP_WRITE_BIT;
}

static gr_status make_plain(struct gl_names *names, const struct gl_wish *wish,
                            gr_transport transport)
{
    GL_SAVED(before, GL_SAVE(ERRORS));
    return wish->image
               ? make_texture(names, wish->image)
               : make_buffer(names, wish->size, storage_for(&wish->context, wish, transport));
}

static gr_status share_plain(struct gl_names *names, struct gl_wish *wish, gr_transport transport)
{
    struct gl_resource *r = wish->image
                                ? gl_image_object(names->texture, wish->image->target, wish->flags)
                                : gl_buffer_object(names->buffer, wish->flags);
    if (!r)
        return gr_last_error()->status;
    r->owned = names;
    r->in_flight = wish->in_flight;
    r->reach = wish->reach;
    gr_status status = gl_object_make(r, gl_maker_of(transport), wish->flags);
    if (status == GR_OK)
        wish->made = r;
    else
        free(r);
    return status;
}

static gr_status create_plain(struct gl_wish *wish, gr_transport transport)
{
    if (!wish->context.direct)
        return gr_fail(
            GR_ERR_UNSUPPORTED,
            "Creating objects needs GL_ARB_direct_state_access (OpenGL 4.5), which this context "
            "lacks. Create the object yourself and use gr_from_gl_buffer() or gr_from_gl_image().");
    struct gl_names *names = gl_names_make(&wish->context);
    if (!names)
        return GR_ERR_NO_MEMORY;
    gr_status status = make_plain(names, wish, transport);
    if (status == GR_OK)
        status = share_plain(names, wish, transport);
    if (status != GR_OK)
        gl_names_end(names);
    return status;
}

/* ---- The choice ------------------------------------------------------------------------------ */

static gr_status attempt(void *of, const struct gr_transport_choice *choice, gr_transport transport)
{
    struct gl_wish *wish = of;
    (void)choice;
    return transport == GR_TRANSPORT_SHARED ? gl_shared_create(wish)
                                            : create_plain(wish, transport);
}

/* Refuses OpenGL ES: `what` says what it cannot do, `instead` what the program can use there. */
static gr_status check_context(struct gl_context *context, const char *what, const char *instead)
{
    GR_TRY(gl_context_begin(context, "will own the object"));
    return gl_context_refuse_es(context, what, "direct state access", instead);
}

static gr_status check_options(gr_gl_options *own, const gr_gl_options *options,
                               struct gl_wish *wish, const struct gl_format *format)
{
    GR_TRY(GR_TAKE(gr_gl_options, own, options));
    if (own->share_group || own->follow_storage)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "`%s` is for existing objects: create the object by OpenGL, and register it "
                       "by gr_from_gl_buffer_with() or gr_from_gl_image_with().",
                       own->share_group ? "share_group" : "follow_storage");
    if (own->packed && wish->image)
        return gr_fail(GR_ERR_UNSUPPORTED, "`packed` is for buffers: an image has its own memory.");
    GR_TRY(gl_in_flight_check(own, wish->flags));
    GR_TRY(check_context(&wish->context, "Creating objects",
                         "gr_from_gl_buffer() or gr_from_gl_image() with an object of your own"));
    return own->in_flight ? gl_staging_check_format(format, &wish->context) : GR_OK;
}

static gr_resource *create(struct gl_wish *wish, const gr_gl_options *options)
{
    const unsigned uncopied = GR_TRANSPORT_SHARED | GR_TRANSPORT_INTEROP;
    const struct gl_format *format =
        wish->image ? gl_format_of(wish->image->internal_format) : NULL;
    struct gr_transport_choice *choice = &wish->choice;
    gr_gl_options own;
    if (check_options(&own, options, wish, format) != GR_OK)
        return NULL;
    const unsigned by_frames = own.in_flight ? GR_TRANSPORT_PEER : 0;
    unsigned allowed =
        gl_transports_select(&own, uncopied | GR_TRANSPORT_COPY | by_frames, uncopied | by_frames);
    if (!allowed)
        return NULL;
    wish->packed = own.packed;
    wish->in_flight = own.in_flight;
    struct gl_order order = {.is_created = true,
                             .context = &wish->context,
                             .format = format,
                             .in_flight = own.in_flight,
                             .reach = &wish->reach};
    gl_transports_order(choice, &order, allowed);
    gr_status status = gr_choose_transport(choice, attempt, wish);
    return gl_object_finish(wish->made, status, choice);
}

static gr_status check_buffer(size_t size, unsigned flags)
{
    GR_REFUSE_IF(flags & ~(unsigned)GR_IMAGE_FLAGS && size && !(size & ~(size_t)GR_BUFFER_FLAGS),
                 "The size is %zu and `flags` are 0x%x: are the two swapped? The size comes first.",
                 size, flags);
    GR_TRY(gr_flags_check(flags, false));
    GR_REFUSE_IF(size == 0 || size > (size_t)PTRDIFF_MAX / 2,
                 "A buffer cannot have %zu byte%s: pass its size.", size, gr_s(size));
    return GR_OK;
}

gr_resource *gr_create_gl_buffer(size_t size, unsigned flags, const gr_gl_options *options)
{
    GR_CALL();
    struct gl_wish wish = {.size = size, .flags = flags};
    return check_buffer(size, flags) == GR_OK ? create(&wish, options) : NULL;
}

/* ---- Images ---------------------------------------------------------------------------------- */

static gr_status check_extent(const gr_gl_image_desc *info)
{
    bool deep = info->target == GL_TEXTURE_3D || info->target == GL_TEXTURE_2D_ARRAY;
    if (info->width == 0 || info->height == 0 || info->width > INT32_MAX ||
        info->height > INT32_MAX || info->depth > INT32_MAX)
        return gr_fail(GR_ERR_INVALID_VALUE,
                       "The size is %u x %u x %u: pass that of level 0 in texels.", info->width,
                       info->height, info->depth);
    GR_REFUSE_IF(!deep && info->depth > 1,
                 "A %s has no depth, but `depth` is %u: pass depth 1, or the target GL_TEXTURE_3D "
                 "or GL_TEXTURE_2D_ARRAY.",
                 gl_target_of(info->target)->name, info->depth);
    GR_REFUSE_IF(info->target == GL_TEXTURE_CUBE_MAP && info->width != info->height,
                 "Cube faces are square, but the size is %u x %u: pass one value for both.",
                 info->width, info->height);
    unsigned int levels =
        gr_whole_chain(info->width, info->height, info->target == GL_TEXTURE_3D ? info->depth : 1);
    GR_REFUSE_IF(info->levels > levels,
                 "An image of %u x %u x %u texels has at most %u mip level%s, not %u: pass that or "
                 "less.",
                 info->width, info->height, info->depth, levels, gr_s(levels), info->levels);
    return GR_OK;
}

static gr_status check_image(const gr_gl_image_desc *info, unsigned flags)
{
    const struct gl_format *format = gl_format_of(info->internal_format);
    GR_TRY(gr_flags_check(flags, true));
    GR_REFUSE_IF(
        format && !gl_format_has_size(format),
        "`internal_format` is %s, which has no size: pass a sized format, such as GL_RGBA8.",
        format->name);
    switch (info->target) {
    case GL_TEXTURE_2D:
    case GL_TEXTURE_3D:
    case GL_TEXTURE_2D_ARRAY:
    case GL_TEXTURE_CUBE_MAP:
        return check_extent(info);
    default:
        return gr_fail(GR_ERR_INVALID_VALUE,
                       "The target 0x%x is none of GL_TEXTURE_2D, GL_TEXTURE_3D, "
                       "GL_TEXTURE_2D_ARRAY and GL_TEXTURE_CUBE_MAP: pass one of them.",
                       info->target);
    }
}

/* Copies the description, and replaces zeros by the defaults. */
static gr_status take_image(gr_gl_image_desc *image, const gr_gl_image_desc *desc)
{
    GR_REFUSE_IF(!desc, "`desc` is NULL: describe the image.");
    gr_status status = GR_TAKE(gr_gl_image_desc, image, desc);
    image->depth = image->depth ? image->depth : 1;
    image->levels = image->levels ? image->levels : 1;
    return status;
}

gr_resource *gr_create_gl_image(const gr_gl_image_desc *desc, unsigned flags,
                                const gr_gl_options *options)
{
    GR_CALL();
    gr_gl_image_desc image;
    if (take_image(&image, desc) != GR_OK || check_image(&image, flags) != GR_OK)
        return NULL;
    struct gl_wish wish = {.image = &image, .flags = flags};
    gl_depth_enable();
    return create(&wish, options);
}

/* ---- Buffers in the memory of tensors -------------------------------------------------------- */

static gr_status check_options_of_tensor(const gr_gl_options *options)
{
    const char *wrong = options->packed           ? "packed"
                        : options->share_group    ? "share_group"
                        : options->follow_storage ? "follow_storage"
                        : options->in_flight      ? "in_flight"
                                                  : NULL;
    GR_TRY(gr_transports_check(options->transports));
    GR_REFUSE_IF(options->transports && !(options->transports & GR_TRANSPORT_SHARED),
                 "The buffer has the memory of the tensor, so it needs GR_TRANSPORT_SHARED, which "
                 "`transports` (0x%x) does not allow: add it, or leave `transports` 0.",
                 options->transports);
    GR_REFUSE_IF(
        wrong, "`%s` is set, but the buffer has the memory of the tensor and no other: leave it 0.",
        wrong);
    return GR_OK;
}

gr_resource *gr_create_gl_buffer_of(gr_tensor *tensor, unsigned flags, const gr_gl_options *options)
{
    GR_CALL();
    struct gl_wish wish = {.flags = flags};
    gr_gl_options own;
    if (GR_TAKE(gr_gl_options, &own, options) != GR_OK || check_options_of_tensor(&own) != GR_OK ||
        gr_tensor_check(tensor) != GR_OK ||
        check_context(&wish.context, "A buffer in the memory of a tensor",
                      "gr_publish() with a buffer of gr_from_gl_buffer()") != GR_OK)
        return NULL;
    /* after the check of the context, since OpenGL ES cannot use exportable memory either */
    wish.memory = gr_tensor_memory_make(tensor, flags);
    if (!wish.memory)
        return NULL;
    gr_transport_add(&wish.choice, GR_TRANSPORT_SHARED, GR_TRANSPORT_SHARED);
    gr_status status = gr_choose_transport(&wish.choice, attempt, &wish);
    gr_tensor_memory_drop(wish.memory);
    return gl_object_finish(wish.made, status, &wish.choice);
}

/* ---- Queries --------------------------------------------------------------------------------- */

static bool is_opengl(const gr_resource *resource)
{
    if (gr_resource_check_slot(resource) != GR_OK)
        return false;
    if (resource->backend->api == GR_GRAPHICS_OPENGL)
        return true;
    gr_fail(GR_ERR_STATE,
            "The resource was not made from an OpenGL object. For Vulkan use gr_vk_buffer() or "
            "gr_vk_image().");
    return false;
}

unsigned int gr_gl_name(const gr_resource *resource)
{
    GR_CALL();
    return is_opengl(resource) ? gl_of(resource)->name : 0;
}

unsigned int gr_gl_target(const gr_resource *resource)
{
    GR_CALL();
    if (!is_opengl(resource))
        return 0;
    const struct gl_target *target = gl_of(resource)->target;
    return target ? target->target : GL_ARRAY_BUFFER;
}
