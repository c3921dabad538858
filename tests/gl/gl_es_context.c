/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The contexts of OpenGL ES: creation by gr_egl_create(), and versions that are too old. */
#define _GNU_SOURCE
#include "gl_es.h"
#include "tests/support/child_check.h"

#include <stdlib.h>
#include <string.h>

#include <epoxy/egl.h>

gr_egl *es_context;
const gr_gl_options *const es_ways[2] = {&by_interop, &by_copy};

gr_egl *es_begin(int major, int minor)
{
    gr_egl *es = must_make(
        gr_egl_create(&GR_INIT(gr_egl_options, .major = major, .minor = minor, .es = true)));
    ck_assert(!epoxy_is_desktop_gl());
    ck_assert_int_ge(epoxy_gl_version(), major ? 10 * major + minor : 31);
    return es;
}

void es_end(gr_egl *es)
{
    gr_egl_free(es);
    assert_ok(gr_egl_make_current(fx.egl));
}

static void setup(void)
{
    es_context = es_begin(0, 0);
}

static void teardown(void)
{
    assert_ok(gr_egl_make_current(es_context));
    assert_gl_clean();
    es_end(es_context);
}

/* Drivers open descriptors for the first context. */
static void use_es(void)
{
    setup();
    es_check_buffers();
    es_check_image("RGBA8", "2D", 1, &by_interop);
    es_check_image("RGBA8", "2D", 1, &by_copy);
    teardown();
}

TCase *add_es_case(Suite *suite, const char *name)
{
    return with_fixture(with_first_use(add_case(suite, name), use_es), setup, teardown);
}

GROUP("contexts", add_es_case)

TEST(the_description_names_opengl_es)
{
    ck_assert_msg(strncmp(es_context->description, "OpenGL ES 3.", 12) == 0, "%s",
                  es_context->description);
    ck_assert_ptr_eq(eglGetCurrentContext(), es_context->context);
    ck_assert_uint_eq(eglQueryAPI(), EGL_OPENGL_ES_API);
}

/* gr_egl_make_current() selects the API of each context. */
TEST(contexts_of_both_apis_take_turns)
{
    for (int i = 0; i < 3; i++) {
        assert_ok(gr_egl_make_current(fx.egl));
        ck_assert(epoxy_is_desktop_gl());
        assert_gl_bytes(gl_buffer_filled(64, i), 64, i);
        assert_ok(gr_egl_make_current(es_context));
        ck_assert(!epoxy_is_desktop_gl());
        es_check_buffers();
    }
}

TEST(contexts_of_opengl_es_share_objects)
{
    GLuint name = gl_buffer_filled(64, 5);
    glFinish();
    gr_egl *second =
        must_make(gr_egl_create(&GR_INIT(gr_egl_options, .share = es_context, .es = true)));
    assert_gl_bytes(name, 64, 5);
    gr_egl_free(second);
    assert_ok(gr_egl_make_current(es_context));
}

TEST(options_that_opengl_es_lacks_are_refused)
{
    assert_null_invalid(gr_egl_create(&GR_INIT(gr_egl_options, .compatibility = true, .es = true)),
                        "no profiles");
    assert_null_invalid(gr_egl_create(&GR_INIT(gr_egl_options, .share = fx.egl, .es = true)),
                        "`share` is a context of desktop OpenGL");
    assert_null_invalid(gr_egl_create(&GR_INIT(gr_egl_options, .share = es_context)),
                        "`share` is a context of OpenGL ES");
    assert_null(gr_egl_create(&GR_INIT(gr_egl_options, .major = 9, .es = true)), GR_ERR_GL, -1,
                "OpenGL ES 9.0 is not available");
    ck_assert_ptr_eq(eglGetCurrentContext(), es_context->context);
}

TEST(an_opengl_es_3_1_context_works)
{
    gr_egl *es = es_begin(3, 1);
    es_check_buffers();
    es_check_image("RGBA8", "2D", 1, &by_interop);
    es_end(es);
    assert_ok(gr_egl_make_current(es_context));
}

/* Mesa returns the newest version for each request, except for one that this variable limits. */
#define MESA_VERSION "MESA_GLES_VERSION_OVERRIDE"

CHILD(has_opengl_es_3_1)
{
    setenv(MESA_VERSION, "3.1", 1);
    gr_egl *es = es_begin(0, 0); /* before any context of desktop OpenGL */
    child_check(epoxy_gl_version() == 31);
    child_check(gr_gl_probe(GR_TRANSPORT_INTEROP)->usable);
    assert_gl_clean();
    gr_egl_free(es);
    fixture_setup();
    es = es_begin(0, 0);
    es_check_buffers();
    for (int way = 0; way < ES_WAYS; way++) {
        es_check_image("RGBA8", "2D", 3, es_ways[way]);
        es_check_image("RGBA8UI", "2D_ARRAY", 1, es_ways[way]);
    }
    GLuint name = bound_renderbuffer();
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 8, 8);
    assert_null(gr_from_gl_image_with(name, GL_RENDERBUFFER, 0, &by_copy), GR_ERR_UNSUPPORTED, 0,
                "OpenGL ES 3.2");
    es_end(es);
    return 0;
}

TEST(opengl_es_3_1_without_newer_functions_works)
{
    if (!gr_cuda_is_software())
        skip("only Mesa can be limited to OpenGL ES 3.1");
    expect_child("has_opengl_es_3_1");
}

/* OpenGL ES 3.0 must not pass for OpenGL 3.0, nor 3.1 for one that is too old. */
CHILD(has_opengl_es_3_0)
{
    static const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
    setenv(MESA_VERSION, "3.0", 1);
    fixture_setup();
    child_check(!gr_egl_create(&GR_INIT(gr_egl_options, .es = true)));
    assert_error(GR_ERR_GL, -1, "No context of OpenGL ES 3.1 or newer could be created");
    eglBindAPI(EGL_OPENGL_ES_API);
    EGLContext context = eglCreateContext(fx.egl->display, fx.egl->config, EGL_NO_CONTEXT, version);
    child_check(context != EGL_NO_CONTEXT);
    child_check(eglMakeCurrent(fx.egl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, context));
    assert_null(gr_from_gl_buffer(1, GR_READ_WRITE), GR_ERR_UNSUPPORTED, 0,
                "The current context is OpenGL ES 3.0. grinterop needs OpenGL 3.2, or OpenGL ES "
                "3.1");
    assert_ok(gr_egl_make_current(fx.egl));
    return 0;
}

TEST(opengl_es_before_3_1_is_refused)
{
    if (!gr_cuda_is_software())
        skip("only Mesa can be limited to OpenGL ES 3.0");
    expect_child("has_opengl_es_3_0");
}
