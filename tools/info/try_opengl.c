/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tries OpenGL buffers and textures: OpenGL writes and CUDA reads, then CUDA writes and OpenGL
 * reads. OpenGL copies from and to a buffer that is not shared, as a program would. The host reads
 * only that buffer.
 */
#include <string.h>

#include <epoxy/gl.h>

#include <grinterop/egl.h>
#include <grinterop/gl.h>

#include "tools/info/finding.h"
#include "tools/info/opengl.h"
#include "tools/info/try.h"

struct object {
    bool image;
    size_t bytes;
    GLuint own;         /* a buffer not shared with CUDA */
    GLuint name;        /* the name of an object not created by grinterop, otherwise 0 */
    GLuint framebuffer; /* the framebuffer of the image */
    gr_resource *resource;
};

static bool open_opengl(struct trial *t)
{
    const gr_egl_options options = GR_INIT(gr_egl_options, .cuda_device = t->way.device);
    say_step("an OpenGL context");
    if (t->way.api == WAY_OPENGL) {
        if (gr_egl_create(&options))
            return true;
        t->absent = t->way.software;
        return try_error(t);
    }
    const char *missing =
        t->way.api == WAY_GLX ? glx_make_current() : egl_make_current(t->way.device);
    return !missing || try_fail(t, "No OpenGL on it: %s.", missing);
}

static bool is_opengl_fine(struct trial *t)
{
    GLenum error = glGetError();
    return error == GL_NO_ERROR ||
           try_fail(t,
                    "OpenGL reports error 0x%04x for a plain copy. Update the OpenGL driver; "
                    "MESA_DEBUG=1 or a debug context names the call.",
                    error);
}

/* ---- The object ------------------------------------------------------------------------------ */

static GLuint make_buffer(size_t size)
{
    GLuint name = 0;
    glGenBuffers(1, &name);
    glBindBuffer(GL_COPY_WRITE_BUFFER, name);
    glBufferData(GL_COPY_WRITE_BUFFER, (GLsizeiptr)size, NULL, GL_DYNAMIC_DRAW);
    return name;
}

static void make_buffer_object(struct object *object, const gr_gl_options *options)
{
    if (options->transports == GR_TRANSPORT_SHARED) {
        object->resource = gr_gl_buffer_create(object->bytes, GR_READ_WRITE, options);
        return;
    }
    object->name = make_buffer(object->bytes);
    object->resource = gr_from_gl_buffer_with(object->name, GR_READ_WRITE, options);
}

/* Creates a texture with only one level, so that it is complete. */
static GLuint make_texture(void)
{
    GLuint name = 0;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, TRY_TEXELS_WIDE, TRY_TEXELS_HIGH, 0, GL_RGBA,
                 GL_UNSIGNED_BYTE, NULL);
    return name;
}

static void make_image_object(struct object *object, const gr_gl_options *options)
{
    const gr_gl_image_desc desc =
        GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D, .internal_format = GL_RGBA8,
                .width = TRY_TEXELS_WIDE, .height = TRY_TEXELS_HIGH);
    if (options->transports == GR_TRANSPORT_SHARED) {
        object->resource = gr_gl_image_create(&desc, GR_READ_WRITE, options);
    } else {
        object->name = make_texture();
        object->resource =
            gr_from_gl_image_with(object->name, GL_TEXTURE_2D, GR_READ_WRITE, options);
    }
    if (!object->resource)
        return;
    glGenFramebuffers(1, &object->framebuffer);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, object->framebuffer);
    glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D,
                           gr_gl_name(object->resource), 0);
}

static bool make_object(struct trial *t, struct object *object, unsigned transport)
{
    const gr_gl_options options = GR_INIT(gr_gl_options, .transports = transport);
    say_step("the creation of the resource");
    object->own = make_buffer(object->bytes);
    if (object->image)
        make_image_object(object, &options);
    else
        make_buffer_object(object, &options);
    return object->resource ? is_opengl_fine(t) : try_not_made(t);
}

static void delete_object(struct object *object)
{
    say_step("the end of the resource");
    gr_resource_free(object->resource);
    glDeleteBuffers(1, &object->own);
    glDeleteFramebuffers(1, &object->framebuffer);
    if (object->image)
        glDeleteTextures(1, &object->name);
    else
        glDeleteBuffers(1, &object->name);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

static void copy_buffer(GLuint from, GLuint to, size_t at, size_t size)
{
    glBindBuffer(GL_COPY_READ_BUFFER, from);
    glBindBuffer(GL_COPY_WRITE_BUFFER, to);
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, (GLintptr)at,
                        (GLsizeiptr)size);
}

static void copy_from_image(const struct object *object)
{
    glBindBuffer(GL_PIXEL_PACK_BUFFER, object->own);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, object->framebuffer);
    glReadPixels(0, 0, TRY_TEXELS_WIDE, TRY_TEXELS_HIGH, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
}

static bool cuda_sees_opengl(struct trial *t, const struct object *object, unsigned round)
{
    try_pattern(t, 2 * round);
    say_step("an OpenGL copy to the resource");
    if (object->image) {
        glBindTexture(GL_TEXTURE_2D, gr_gl_name(object->resource));
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, TRY_TEXELS_WIDE, TRY_TEXELS_HIGH, GL_RGBA,
                        GL_UNSIGNED_BYTE, t->sent);
    } else {
        glBindBuffer(GL_COPY_READ_BUFFER, object->own);
        glBufferData(GL_COPY_READ_BUFFER, (GLsizeiptr)object->bytes, t->sent, GL_DYNAMIC_DRAW);
        copy_buffer(object->own, gr_gl_name(object->resource), 0, object->bytes);
    }
    return is_opengl_fine(t) && try_read(t, object->resource) &&
           try_same(t, "CUDA", "OpenGL", object->bytes);
}

static bool opengl_sees_cuda(struct trial *t, const struct object *object, unsigned round)
{
    try_pattern(t, 2 * round + 1);
    if (!try_write(t, object->resource))
        return false;
    say_step("an OpenGL copy from the resource");
    if (object->image)
        copy_from_image(object);
    else
        copy_buffer(gr_gl_name(object->resource), object->own, 0, object->bytes);
    glBindBuffer(GL_COPY_READ_BUFFER, object->own);
    glGetBufferSubData(GL_COPY_READ_BUFFER, 0, (GLsizeiptr)object->bytes, t->got);
    return is_opengl_fine(t) && try_same(t, "OpenGL", "CUDA", object->bytes);
}

static bool exchange(struct trial *t, unsigned transport)
{
    const bool image = strncmp(t->way.what, "image/", strlen("image/")) == 0;
    struct object object = {.image = image, .bytes = image ? TRY_IMAGE_BYTES : TRY_BUFFER_BYTES};
    bool good = make_object(t, &object, transport);
    for (unsigned round = 0; good && round < TRY_ROUNDS; round++) {
        t->by_kernel = round % 2;
        good = cuda_sees_opengl(t, &object, round) && opengl_sees_cuda(t, &object, round);
    }
    delete_object(&object);
    return good;
}

/* ---- Rings ----------------------------------------------------------------------------------- */

static gr_resource *make_slot(void *t)
{
    const gr_gl_options any = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_ANY);
    (void)t;
    return gr_gl_buffer_create(TRY_FRAME_BYTES, GR_WRITE_DISCARD, &any);
}

static bool copy_frame(struct trial *t, const gr_slot *slot, size_t frame)
{
    copy_buffer(gr_gl_name(slot->resource), *(GLuint *)t->graphics, frame * TRY_FRAME_BYTES,
                TRY_FRAME_BYTES);
    return true;
}

static bool read_frames(struct trial *t)
{
    say_step("glGetBufferSubData()");
    glBindBuffer(GL_COPY_READ_BUFFER, *(GLuint *)t->graphics);
    glGetBufferSubData(GL_COPY_READ_BUFFER, 0, TRY_BUFFER_BYTES, t->got);
    return is_opengl_fine(t);
}

static bool exchange_frames(struct trial *t)
{
    static const struct try_reader reader = {make_slot, copy_frame, read_frames, NULL, "OpenGL"};
    GLuint all = make_buffer(TRY_BUFFER_BYTES);
    t->graphics = &all;
    bool good = try_ring(t, &reader);
    glDeleteBuffers(1, &all);
    return good;
}

bool try_opengl(struct trial *t)
{
    const char *how = strchr(t->way.what, '/');
    if (!open_opengl(t) || !try_open(t, &t->cuda, t->way.cuda_device))
        return false;
    if (strcmp(t->way.what, "ring") == 0)
        return exchange_frames(t);
    for (size_t i = 0; how && i < TRANSPORTS; i++)
        if (strcmp(transports[i].name, how + 1) == 0)
            return exchange(t, transports[i].transport);
    return try_fail(t, "There is no such probe.");
}
