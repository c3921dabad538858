/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Buffers that grinterop allocates in CUDA memory and shares with OpenGL: bytes in both directions,
 * descriptions and wrong arguments.
 */
#define _GNU_SOURCE
#include <grinterop/submit.h>

#include "gl_shared.h"

#include <string.h>

#define SIZE 4096

GROUP("bytes", add_shared_case)

static const size_t sizes[] = {1, 3, 64, 4096, 65536 + 7, (2 << 20) - 48, 2 << 20, (2 << 20) + 1};
#define SIZE_COUNT (sizeof(sizes) / sizeof(sizes[0]))

SHARED_TEST(shared_buffers_pass_bytes_both_ways, SIZE_COUNT)
{
    need_kernels();
    size_t size = sizes[_i];
    GR_AUTO(gr_resource) *resource = must_share(size, GR_READ_WRITE);
    shared_bytes_both_ways(resource, size);
}

SHARED_TEST(each_api_sees_the_last_bytes_of_the_other)
{
    GR_AUTO(gr_resource) *resource = must_share(SIZE, GR_READ_WRITE);
    for (int i = 0; i < 50; i++) {
        unsigned char host[SIZE];
        memset(host, i, sizeof(host));
        gl_write(gr_gl_name(resource), host, SIZE);
        gr_buffer *buffer = must_map(resource);
        cuda_read(host, gr_buffer_ptr(buffer), SIZE, fx.stream);
        assert_bytes(host, SIZE, i);
        fill_and_release(buffer, 255 - i);
        assert_gl_bytes(gr_gl_name(resource), SIZE, 255 - i);
    }
}

GROUP("reports", add_shared_case)

SHARED_TEST(a_shared_buffer_reports_its_properties)
{
    GR_AUTO(gr_resource) *resource = must_share(SIZE, GR_WRITE_DISCARD);
    GLint64 size = 0;
    ck_assert(glIsBuffer(gr_gl_name(resource)));
    glGetNamedBufferParameteri64v(gr_gl_name(resource), GL_BUFFER_SIZE, &size);
    ck_assert_int_eq(size, SIZE);
    ck_assert_uint_eq(gr_gl_target(resource), GL_ARRAY_BUFFER);
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, GR_TRANSPORT_SHARED);
    assert_described(resource, "OpenGL buffer", "transport shared", "4096 bytes", "write_discard");
    ck_assert(!gr_resource_get_info(resource)->mapped && !gr_resource_get_info(resource)->closed);
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, GR_TRANSPORT_SHARED);
    ck_assert_int_eq(gr_resource_get_info(resource)->api, GR_GRAPHICS_OPENGL);
}

SHARED_TEST(gr_gl_name_is_0_for_null_and_the_name_for_registered_buffers)
{
    ck_assert_uint_eq(gr_gl_name(NULL), 0);
    ck_assert_uint_eq(gr_gl_target(NULL), 0);
    GLuint name = gl_buffer_filled(SIZE, 1);
    GR_AUTO(gr_resource) *registered = must_register(name);
    ck_assert_uint_eq(gr_gl_name(registered), name);
    ck_assert_uint_eq(gr_gl_target(registered), GL_ARRAY_BUFFER);
    ck_assert_int_eq(gr_resource_get_info(registered)->transport, GR_TRANSPORT_INTEROP);
}

SHARED_TEST(the_default_transport_of_a_created_buffer_is_shared)
{
    GR_AUTO(gr_resource) *resource = must_make(gr_create_gl_buffer(SIZE, GR_READ_WRITE, NULL));
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, GR_TRANSPORT_SHARED);
}

/* These transports use plain OpenGL storage. */
static const gr_transport others[] = {GR_TRANSPORT_INTEROP, GR_TRANSPORT_COPY};

TEST(another_transport_is_used_on_request, 2)
{
    const gr_gl_options options = GR_INIT(gr_gl_options, .transports = others[_i]);
    gr_resource *resource = must_make(gr_create_gl_buffer(SIZE, GR_READ_WRITE, &options));
    GLuint name = gr_gl_name(resource);
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, others[_i]);
    fill_mapped(resource, 0x77);
    assert_gl_bytes(name, SIZE, 0x77);
    gr_resource_free(resource);
    ck_assert(!glIsBuffer(name));
}

GROUP("errors", add_shared_case)

TEST(wrong_arguments_are_refused)
{
    const gr_gl_options unknown = GR_INIT(gr_gl_options, .transports = 0x20);
    assert_null_invalid(gr_create_gl_buffer(0, GR_READ_WRITE, NULL), "0 bytes");
    assert_null_invalid(gr_create_gl_buffer((size_t)-1, GR_READ_WRITE, NULL), "bytes");
    assert_null_invalid(gr_create_gl_buffer(64, GR_SURFACE_LOAD_STORE, NULL), "surface_load_store");
    assert_null_invalid(gr_create_gl_buffer(64, GR_READ_WRITE, &unknown), "0x20");
    assert_ok(gr_egl_make_current(NULL));
    assert_null(gr_create_gl_buffer(64, GR_READ_WRITE, NULL), GR_ERR_GL, 0,
                "No OpenGL context is current");
    assert_null(gr_create_gl_buffer(64, GR_READ_WRITE, &by_sharing), GR_ERR_GL, 0,
                "No OpenGL context is current");
    assert_ok(gr_egl_make_current(fx.egl));
}

SHARED_TEST(a_buffer_larger_than_the_memory_is_refused)
{
    gr_clear_error();
    int fds = open_fds();
    ck_assert_ptr_null(gr_create_gl_buffer((size_t)1 << 50, GR_READ_WRITE, &by_sharing));
    ck_assert_int_ne(gr_last_error()->status, GR_OK);
    gr_clear_error();
    ck_assert_int_eq(open_fds(), fds);
    assert_gl_clean();
}

/* The message must name the missing extension and the alternative. */
TEST(without_memory_objects_sharing_is_refused)
{
    static const char *const denied[] = {"GL_EXT_memory_object_fd", NULL};
    denied_extensions = denied;
    assert_null(gr_create_gl_buffer(SIZE, GR_READ_WRITE, &by_sharing), GR_ERR_UNSUPPORTED, 0,
                "GL_EXT_memory_object_fd");
    assert_null(gr_create_gl_buffer(SIZE, GR_READ_WRITE, &by_sharing), GR_ERR_UNSUPPORTED, 0,
                "GR_TRANSPORT_INTEROP");
    assert_null(gr_create_gl_buffer(SIZE, GR_READ_WRITE, &by_sharing), GR_ERR_UNSUPPORTED, 0,
                (const char *)glGetString(GL_RENDERER));
    GR_AUTO(gr_resource) *resource = must_make(gr_create_gl_buffer(SIZE, GR_READ_WRITE, NULL));
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, GR_TRANSPORT_INTEROP);
    assert_described(resource, "transport interop (shared was not chosen:");
}

/* ---- OpenGL state ---------------------------------------------------------------------------- */

static void raise_error(GLenum error)
{
    if (error == GL_INVALID_ENUM)
        glHint(0, 0);
    else if (error == GL_INVALID_VALUE)
        glDeleteBuffers(-1, NULL);
    else if (error == GL_INVALID_OPERATION)
        glUnmapNamedBuffer(0);
}

SHARED_TEST(calls_preserve_pending_errors_and_bindings)
{
    static const GLenum errors[] = {GL_NO_ERROR, GL_INVALID_ENUM, GL_INVALID_VALUE,
                                    GL_INVALID_OPERATION};
    GLuint bound = gl_buffer_filled(16, 1);
    GLint now = 0;
    glBindBuffer(GL_ARRAY_BUFFER, bound);
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        raise_error(errors[i]);
        gr_resource *resource = must_share(SIZE, GR_READ_WRITE);
        ck_assert_uint_eq(glGetError(), errors[i]);
        assert_gl_clean();
        raise_error(errors[i]);
        gr_buffer *buffer = must_map(resource);
        assert_ok(gr_buffer_release(buffer));
        gr_resource_free(resource);
        ck_assert_uint_eq(glGetError(), errors[i]);
        assert_gl_clean();
    }
    glGetIntegerv(GL_ARRAY_BUFFER_BINDING, &now);
    ck_assert_uint_eq((GLuint)now, bound);
}

GROUP("errors", add_shared_case)

/*
 * Only the transport may signal its semaphores.
 *
 * Catches: semaphores of the caller were accepted, and their values conflicted with those of the
 * transport.
 */
TEST(setting_semaphores_on_a_shared_resource_is_refused)
{
    GR_AUTO(gr_resource) *resource = must_share(SIZE, GR_READ_WRITE);
    assert_invalid(gr_resource_set_sync(resource, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE), "shared");
}
