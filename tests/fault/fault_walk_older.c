/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Scenarios of test_fault_walk with an older OpenGL: it reports an older version, and grinterop
 * uses functions that need no more. Each version has its own context, which is kept.
 */
#include "fault_walk.h"
#include "tests/support/support_image.h"

#include <string.h>

/* ---- Simulated OpenGL versions --------------------------------------------------------------- */

/* 0: the real one. */
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

#define AGES 2
static const int ages[AGES] = {33, 44};
static gr_egl *contexts[AGES];

/* Before the first fault. */
static const char *make_context(int i)
{
    if (!contexts[i])
        contexts[i] = gr_egl_create(NULL);
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

static bool in(int i, bool (*run)(void))
{
    if (!ok(gr_egl_make_current(contexts[i])))
        return false;
    version = ages[i];
    bool good = run();
    version = 0;
    return good;
}

/* ---- Operations ------------------------------------------------------------------------------ */

static bool use_interop(void)
{
    return walk_a_buffer(&walk_by_interop);
}

static bool use_copy(void)
{
    return walk_a_buffer(&walk_by_copy);
}

/* Storage that the program cannot write to, so that the bytes go through another buffer. */
static bool use_immutable(void)
{
    static const unsigned char bytes[64] = {1};
    GLuint name = 0;
    glGenBuffers(1, &name);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferStorage(GL_ARRAY_BUFFER, sizeof(bytes), bytes, 0);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    gr_resource *resource = gr_from_gl_buffer_with(name, GR_READ_WRITE, &walk_by_copy);
    gr_buffer *buffer = resource ? gr_map(resource, fx.stream) : NULL;
    bool good = done(buffer) && ok(gr_buffer_release(buffer));
    if (buffer && !good)
        gr_buffer_release_later(buffer);
    gr_resource_free(resource);
    glDeleteBuffers(1, &name);
    return good;
}

static bool use_image_copy(void)
{
    return walk_an_image(&walk_by_copy, "2D", false);
}

static bool use_renderbuffer_copy(void)
{
    return walk_an_image(&walk_by_copy, "RENDERBUFFER", false);
}

static bool run_interop(void)
{
    return in(0, use_interop);
}

static bool run_copy(void)
{
    return in(0, use_copy);
}

static bool run_immutable(void)
{
    return in(1, use_immutable);
}

static bool run_image_copy_44(void)
{
    return in(1, use_image_copy);
}

static bool run_renderbuffer_copy(void)
{
    return in(1, use_renderbuffer_copy);
}

const struct scenario walk_older[] = {
    {"a buffer by interop, OpenGL 3.3", run_interop, no_33, 0},
    {"a buffer by copies, OpenGL 3.3", run_copy, no_33, 0},
    {"storage without direct writes, OpenGL 4.4", run_immutable, no_44, 0},
    {"an image by copies, OpenGL 4.4", run_image_copy_44, no_44, 0},
    {"a renderbuffer by copies, OpenGL 4.4", run_renderbuffer_copy, no_44, 0},
    {NULL, NULL, NULL, 0},
};
