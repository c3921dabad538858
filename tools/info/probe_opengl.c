/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes of OpenGL's buffers and textures: OpenGL writes and CUDA reads, CUDA writes and OpenGL
 * reads. OpenGL copies to and from objects of its own, as a program's commands do; only those are
 * read by the host.
 */
#include "tools/info/probe_opengl.h"

#include <stdio.h>
#include <string.h>

#include <epoxy/gl.h>

#include <grinterop/egl.h>
#include <grinterop/gl.h>

#include "tools/info/egl_context.h"
#include "tools/info/egl_list.h"
#include "tools/info/glx_context.h"
#include "tools/info/probe_cuda.h"
#include "tools/info/probe_opengl_ring.h"
#include "tools/info/say.h"

/* The object, and what it is read and written by. */
struct object {
    bool image;
    size_t bytes;
    GLuint own;             /* what OpenGL alone has: a buffer, or a renderbuffer */
    GLuint name;            /* of an object that grinterop did not make; else 0 */
    GLuint framebuffers[2]; /* of the image, and of its own */
    gr_resource *resource;
};

static const struct {
    const char *name;
    gr_transport transport;
} transports[] = {
    {"interop", GR_TRANSPORT_INTEROP},
    {"shared", GR_TRANSPORT_SHARED},
    {"copy", GR_TRANSPORT_COPY},
    {"peer", GR_TRANSPORT_PEER},
};

/* ---- OpenGL ---------------------------------------------------------------------------------- */

static bool open_opengl(struct probe_try *t)
{
    EGLDeviceEXT devices[EGL_LIST_MOST];
    const gr_egl_options options = GR_INIT(gr_egl_options, .cuda_device = t->probe->device);
    say_step("an OpenGL context");
    if (t->probe->api == PROBE_OPENGL) {
        if (gr_egl_create(&options))
            return true;
        t->absent = t->probe->software;
        return probe_error(t);
    }
    if (t->probe->api == PROBE_GLX) {
        const char *lacking = glx_make_current();
        return !lacking || probe_fail(t, "No OpenGL on it: %s.", lacking);
    }
    if (!epoxy_has_egl() || t->probe->device < 0 || t->probe->device >= egl_list(devices))
        return probe_fail(t, "There is no such EGL device any more.");
    const char *missing = egl_make_current(devices[t->probe->device]);
    return !missing || probe_fail(t, "No OpenGL on it: %s.", missing);
}

static bool is_opengl_fine(struct probe_try *t)
{
    GLenum error = glGetError();
    return error == GL_NO_ERROR ||
           probe_fail(t,
                      "OpenGL reports error 0x%04x for a plain copy of it. Update its driver; "
                      "MESA_DEBUG=1 or a debug context names the call.",
                      error);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static GLuint make_buffer(size_t size)
{
    GLuint name = 0;
    glGenBuffers(1, &name);
    glBindBuffer(GL_COPY_WRITE_BUFFER, name);
    glBufferData(GL_COPY_WRITE_BUFFER, (GLsizeiptr)size, NULL, GL_DYNAMIC_DRAW);
    return name;
}

static void make_buffer_object(struct object *object, unsigned transport)
{
    const gr_gl_options options = GR_INIT(gr_gl_options, .transports = transport);
    object->own = make_buffer(object->bytes);
    if (transport == GR_TRANSPORT_SHARED) {
        object->resource = gr_gl_buffer_create(object->bytes, GR_READ_WRITE, &options);
        return;
    }
    object->name = make_buffer(object->bytes);
    object->resource = gr_from_gl_buffer_with(object->name, GR_READ_WRITE, &options);
}

static void write_buffer(struct probe_try *t, const struct object *object)
{
    GLsizeiptr size = (GLsizeiptr)object->bytes;
    glBindBuffer(GL_COPY_READ_BUFFER, object->own);
    glBufferData(GL_COPY_READ_BUFFER, size, t->sent, GL_DYNAMIC_DRAW);
    glBindBuffer(GL_COPY_WRITE_BUFFER, gr_gl_name(object->resource));
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, size);
}

static void read_buffer(struct probe_try *t, const struct object *object)
{
    GLsizeiptr size = (GLsizeiptr)object->bytes;
    glBindBuffer(GL_COPY_READ_BUFFER, gr_gl_name(object->resource));
    glBindBuffer(GL_COPY_WRITE_BUFFER, object->own);
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, size);
    glGetBufferSubData(GL_COPY_WRITE_BUFFER, 0, size, t->got);
}

/* ---- Images ---------------------------------------------------------------------------------- */

static gr_resource *make_shared_image(void)
{
    const gr_gl_options options = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_SHARED);
    const gr_gl_image_desc desc =
        GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D, .internal_format = GL_RGBA8,
                .width = PROBE_TEXELS_WIDE, .height = PROBE_TEXELS_HIGH);
    return gr_gl_image_create(&desc, GR_READ_WRITE, &options);
}

/* One level, which is all that there is, so that the texture is complete. */
static GLuint make_texture(void)
{
    GLuint name = 0;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, PROBE_TEXELS_WIDE, PROBE_TEXELS_HIGH, 0, GL_RGBA,
                 GL_UNSIGNED_BYTE, NULL);
    return name;
}

static void make_image_object(struct object *object, unsigned transport)
{
    const gr_gl_options options = GR_INIT(gr_gl_options, .transports = transport);
    if (transport == GR_TRANSPORT_SHARED) {
        object->resource = make_shared_image();
    } else {
        object->name = make_texture();
        object->resource =
            gr_from_gl_image_with(object->name, GL_TEXTURE_2D, GR_READ_WRITE, &options);
    }
    if (!object->resource)
        return;
    glGenFramebuffers(2, object->framebuffers);
    glGenRenderbuffers(1, &object->own);
    glBindRenderbuffer(GL_RENDERBUFFER, object->own);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, PROBE_TEXELS_WIDE, PROBE_TEXELS_HIGH);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, object->framebuffers[0]);
    glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D,
                           gr_gl_name(object->resource), 0);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, object->framebuffers[1]);
    glFramebufferRenderbuffer(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
                              object->own);
}

static void write_image(struct probe_try *t, const struct object *object)
{
    glBindTexture(GL_TEXTURE_2D, gr_gl_name(object->resource));
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, PROBE_TEXELS_WIDE, PROBE_TEXELS_HIGH, GL_RGBA,
                    GL_UNSIGNED_BYTE, t->sent);
}

static void read_image(struct probe_try *t, const struct object *object)
{
    glBindFramebuffer(GL_READ_FRAMEBUFFER, object->framebuffers[0]);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, object->framebuffers[1]);
    glBlitFramebuffer(0, 0, PROBE_TEXELS_WIDE, PROBE_TEXELS_HIGH, 0, 0, PROBE_TEXELS_WIDE,
                      PROBE_TEXELS_HIGH, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, object->framebuffers[1]);
    glReadPixels(0, 0, PROBE_TEXELS_WIDE, PROBE_TEXELS_HIGH, GL_RGBA, GL_UNSIGNED_BYTE, t->got);
}

/* ---- Both ------------------------------------------------------------------------------------ */

static bool make_object(struct probe_try *t, struct object *object, unsigned transport)
{
    say_step("the making of the resource");
    if (object->image)
        make_image_object(object, transport);
    else
        make_buffer_object(object, transport);
    return object->resource ? is_opengl_fine(t) : probe_not_made(t);
}

static void delete_object(struct object *object)
{
    say_step("the end of the resource");
    gr_resource_free(object->resource);
    if (object->image) {
        glDeleteFramebuffers(2, object->framebuffers);
        glDeleteRenderbuffers(1, &object->own);
        glDeleteTextures(1, &object->name);
    } else {
        glDeleteBuffers(1, &object->own);
        glDeleteBuffers(1, &object->name);
    }
}

static bool cuda_sees_opengl(struct probe_try *t, const struct object *object, unsigned round)
{
    probe_pattern(t, 2 * round);
    say_step("a copy by OpenGL to the resource");
    if (object->image)
        write_image(t, object);
    else
        write_buffer(t, object);
    return is_opengl_fine(t) && probe_read(t, object->resource) &&
           probe_same(t, "CUDA", "OpenGL", object->bytes);
}

static bool opengl_sees_cuda(struct probe_try *t, const struct object *object, unsigned round)
{
    probe_pattern(t, 2 * round + 1);
    if (!probe_write(t, object->resource))
        return false;
    say_step("a copy by OpenGL from the resource");
    if (object->image)
        read_image(t, object);
    else
        read_buffer(t, object);
    return is_opengl_fine(t) && probe_same(t, "OpenGL", "CUDA", object->bytes);
}

static bool exchange(struct probe_try *t, unsigned transport)
{
    const bool image = strncmp(t->probe->what, "image/", strlen("image/")) == 0;
    struct object object = {.image = image,
                            .bytes = image ? PROBE_IMAGE_BYTES : PROBE_BUFFER_BYTES};
    bool good = make_object(t, &object, transport);
    for (unsigned round = 0; good && round < PROBE_ROUNDS; round++) {
        t->by_kernel = round % 2;
        good = cuda_sees_opengl(t, &object, round) && opengl_sees_cuda(t, &object, round);
    }
    delete_object(&object);
    return good;
}

bool probe_opengl(struct probe_try *t)
{
    const char *how = strchr(t->probe->what, '/');
    if (!open_opengl(t) || !probe_cuda(t))
        return false;
    if (strcmp(t->probe->what, "ring") == 0)
        return probe_opengl_ring(t) && is_opengl_fine(t);
    for (size_t i = 0; how && i < sizeof(transports) / sizeof(transports[0]); i++)
        if (strcmp(transports[i].name, how + 1) == 0)
            return exchange(t, transports[i].transport);
    return probe_fail(t, "There is no such probe.");
}
