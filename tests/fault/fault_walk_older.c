/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Scenarios of test_fault_walk with an older OpenGL: OpenGL reports an older version, and grinterop
 * uses only functions of that version. Also with OpenGL ES. Each has its own context, which is
 * kept.
 */
#include "fault_walk.h"
#include "tests/support/support_image.h"

#include <string.h>

/* ---- Simulated OpenGL versions --------------------------------------------------------------- */

/* The version that OpenGL reports; 0: the real one. */
static int version;

static int older_version(void)
{
    return version ? version : epoxy_gl_version();
}

static bool older_has(const char *extension)
{
    return !version && epoxy_has_gl_extension(extension);
}

const struct call_stand_in walk_older_stand_ins[] = {
    {"epoxy_gl_version", (void (*)(void))older_version},
    {"epoxy_has_gl_extension", (void (*)(void))older_has},
    {NULL, NULL},
};

/* ---- Contexts -------------------------------------------------------------------------------- */

#define AGES 3
static const struct {
    int version; /* 0: the real one */
    bool es;
} ages[AGES] = {{33, false}, {44, false}, {0, true}};
static gr_egl *contexts[AGES];

/* Creates the context of a version. Called before the first fault. */
static const char *make_context(int i)
{
    if (!contexts[i])
        contexts[i] = gr_egl_create(&GR_INIT(gr_egl_options, .es = ages[i].es));
    gr_egl_make_current(fx.egl);
    return contexts[i] ? NULL : gr_last_error()->message;
}

static const char *no_33(void)
{
    return make_context(0);
}

static const char *no_44(void)
{
    return make_context(1);
}

static const char *no_es(void)
{
    return make_context(2);
}

static bool in(int i)
{
    if (!ok(gr_egl_make_current(contexts[i])))
        return false;
    version = ages[i].version;
    bool good = scenario->older();
    version = 0;
    return good;
}

static bool in_33(void)
{
    return in(0);
}

static bool in_44(void)
{
    return in(1);
}

static bool in_es(void)
{
    return in(2);
}

/* ---- Operations ------------------------------------------------------------------------------ */

/* The program cannot write to this storage, so the bytes are copied from another buffer. */
static bool use_immutable(void)
{
    static const unsigned char bytes[64] = {1};
    GLuint name = 0;
    glGenBuffers(1, &name);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferStorage(GL_ARRAY_BUFFER, sizeof(bytes), bytes, 0);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    gr_resource *resource = gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_copy);
    gr_buffer *buffer = resource ? gr_map(resource, fx.stream) : NULL;
    bool good = done(buffer) && walk_release(buffer);
    gr_resource_free(resource);
    glDeleteBuffers(1, &name);
    return good;
}

/* Also after libGLESv2.so.2 was not found. */
static bool create_es(void)
{
    gr_egl *es = gr_egl_create(&GR_INIT(gr_egl_options, .es = true));
    bool good = done(es) && ok(gr_egl_make_current(fx.egl)) && ok(gr_egl_make_current(es));
    gr_egl_free(es);
    return good && ok(gr_egl_make_current(fx.egl));
}

/* OpenGL ES reads these texels only with four channels of 32 bits. */
static bool use_integers(void)
{
    static const unsigned char texels[8 * 8] = {1};
    GLuint name = bound_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_R8UI, 8, 8);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 8, 8, GL_RED_INTEGER, GL_UNSIGNED_BYTE, texels);
    glBindTexture(GL_TEXTURE_2D, 0);
    gr_resource *resource = gr_from_gl_image_with(name, GL_TEXTURE_2D, 0, &by_copy);
    gr_buffer *buffer = done(resource) ? gr_map(resource, fx.stream) : NULL;
    bool good = done(buffer) && walk_release(buffer);
    gr_resource_free(resource);
    glDeleteTextures(1, &name);
    return good;
}

const struct scenario walk_older[] = {
    {"a buffer by interop, OpenGL 3.3", .run = in_33, .missing = no_33, .older = walk_a_buffer,
     .options = &by_interop},
    {"a buffer by copies, OpenGL 3.3", .run = in_33, .missing = no_33, .older = walk_a_buffer,
     .options = &by_copy},
    {"storage without direct writes, OpenGL 4.4", .run = in_44, .missing = no_44,
     .older = use_immutable},
    {"an image by copies, OpenGL 4.4", .run = in_44, .missing = no_44, .older = walk_an_image,
     .options = &by_copy, .target = "2D"},
    {"a renderbuffer by copies, OpenGL 4.4", .run = in_44, .missing = no_44, .older = walk_an_image,
     .options = &by_copy, .target = "RENDERBUFFER"},
    {"an OpenGL ES context", .run = create_es},
    {"a buffer by interop, OpenGL ES", .run = in_es, .missing = no_es, .older = walk_a_buffer,
     .options = &by_interop},
    {"a buffer by copies, OpenGL ES", .run = in_es, .missing = no_es, .older = walk_a_buffer,
     .options = &by_copy},
    {"an image by interop, OpenGL ES", .run = in_es, .missing = no_es, .older = walk_an_image,
     .options = &by_interop, .target = "2D"},
    {"an image by copies, OpenGL ES", .run = in_es, .missing = no_es, .older = walk_an_image,
     .options = &by_copy, .target = "2D"},
    {"integers by copies, OpenGL ES", .run = in_es, .missing = no_es, .older = use_integers},
    {"a renderbuffer by copies, OpenGL ES", .run = in_es, .missing = no_es, .older = walk_an_image,
     .options = &by_copy, .target = "RENDERBUFFER"},
    {.name = NULL},
};
