/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The OpenGL side of a trial. OpenGL copies between resources as a program would. */
#include <epoxy/gl.h>

#include <grinterop/egl.h>
#include <grinterop/gl.h>

#include "tools/info/finding.h"
#include "tools/info/try.h"

/* The process tries one way. `created`: grinterop creates the OpenGL objects, registering none. */
static gr_gl_options options;
static bool created;

static bool open_opengl(struct trial *t)
{
    const gr_egl_options on = GR_INIT(gr_egl_options, .cuda_device = t->way.device);
    const char *missing = NULL;
    options =
        GR_INIT(gr_gl_options, .transports = t->transports ? t->transports : GR_TRANSPORT_ANY);
    created = !t->transports || t->transports == GR_TRANSPORT_SHARED;
    say_step("an OpenGL context");
    if (t->way.api == WAY_GLX)
        missing = glx_make_current();
    else if (t->way.api == WAY_RENDERER)
        missing = egl_make_current(t->way.device);
    else if (!gr_egl_create(&on)) {
        t->absent = t->way.software;
        return try_error(t);
    }
    if (missing)
        return try_fail(t, "No OpenGL on it: %s.", missing);
    return try_open(t, &t->cuda);
}

static gr_resource *make_buffer(struct trial *t, size_t size, unsigned flags)
{
    GLuint name = 0;
    (void)t;
    if (created)
        return gr_create_gl_buffer(size, flags, &options);
    glGenBuffers(1, &name);
    glBindBuffer(GL_COPY_WRITE_BUFFER, name);
    glBufferData(GL_COPY_WRITE_BUFFER, (GLsizeiptr)size, NULL, GL_DYNAMIC_DRAW);
    return gr_from_gl_buffer_with(name, flags, &options);
}

static gr_resource *make_image(struct trial *t)
{
    const gr_gl_image_desc desc =
        GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D, .internal_format = GL_RGBA8,
                .width = TRY_TEXELS_WIDE, .height = TRY_TEXELS_HIGH);
    GLuint name = 0;
    (void)t;
    if (created)
        return gr_create_gl_image(&desc, GR_READ_WRITE, &options);
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    /* a texture with only one level is complete */
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, TRY_TEXELS_WIDE, TRY_TEXELS_HIGH, 0, GL_RGBA,
                 GL_UNSIGNED_BYTE, NULL);
    return gr_from_gl_image_with(name, GL_TEXTURE_2D, GR_READ_WRITE, &options);
}

static bool copy(struct trial *t, gr_resource *from, gr_resource *to, gr_submit *submit, size_t at,
                 size_t size)
{
    (void)submit;
    say_step("an OpenGL copy");
    if (gr_resource_get_info(from)->kind == GR_KIND_IMAGE) {
        glBindTexture(GL_TEXTURE_2D, gr_gl_name(from));
        glBindBuffer(GL_PIXEL_PACK_BUFFER, gr_gl_name(to));
        glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    } else if (gr_resource_get_info(to)->kind == GR_KIND_IMAGE) {
        glBindTexture(GL_TEXTURE_2D, gr_gl_name(to));
        glBindBuffer(GL_PIXEL_UNPACK_BUFFER, gr_gl_name(from));
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, TRY_TEXELS_WIDE, TRY_TEXELS_HIGH, GL_RGBA,
                        GL_UNSIGNED_BYTE, NULL);
        glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    } else {
        glBindBuffer(GL_COPY_READ_BUFFER, gr_gl_name(from));
        glBindBuffer(GL_COPY_WRITE_BUFFER, gr_gl_name(to));
        glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, (GLintptr)at,
                            (GLsizeiptr)size);
    }
    GLenum error = glGetError();
    return error == GL_NO_ERROR ||
           try_fail(t,
                    "OpenGL reports error 0x%04x for a plain copy. Update the OpenGL driver; "
                    "MESA_DEBUG=1 or a debug context names the call.",
                    error);
}

const struct try_api try_opengl = {"OpenGL", open_opengl, make_buffer, make_image, copy, NULL};
