/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Copies that are impossible: the object was deleted or is locked, another context is current, or a
 * driver call fails midway.
 */
#include "gl_copy_tests.h"

#define SIZE 4096

#define IN "cuMemcpyHtoDAsync"

GROUP("objects and contexts of copies", EVERY_IMAGE_GL)

/* The bytes are lost, but the mapping must end. Catches: the release returned GR_OK. */
COPY_TEST(a_mapped_image_that_was_deleted_can_be_released)
{
    struct image image = image_make("RGBA8", "2D", 8, 8, 2);
    GR_AUTO(gr_resource) *texture = must_copy_image(&image, GR_READ_WRITE);
    gr_buffer *mapped = must_map_image(texture);
    image_delete(&image);
    assert_fails(gr_buffer_release(mapped), GR_ERR_PARTIAL, 0, "was deleted while it was mapped");
    ck_assert(!gr_resource_get_info(texture)->mapped);
    assert_gl_clean();
}

/* A large buffer is copied in pieces, and each piece is waited for separately. */
COPY_TEST(releasing_a_deleted_buffer_waits_for_the_stream)
{
    GLuint name = gl_buffer_filled(9 << 20, 1);
    GR_AUTO(gr_resource) *resource = must_copy(name, GR_WRITE_DISCARD);
    gr_buffer *buffer = must_map(resource);
    glDeleteBuffers(1, &name);
    struct gate *gate = gate_open_after(gate_put(fx.stream), 30);
    assert_fails(gr_buffer_release(buffer), GR_ERR_PARTIAL, 0, "deleted");
    ck_assert(gate_is_open(gate));
}

COPY_TEST(a_release_of_an_image_that_opengl_refuses_ends_the_mapping, 2)
{
    struct image image = image_filled("RGBA8", "2D", 8, 8, 1, 1);
    GR_AUTO(gr_resource) *resource = must_copy_image(&image, GR_READ_WRITE);
    gr_buffer *buffer = must_map_image(resource);
    opengl_refuses_data(true);
    gr_status status =
        _i ? gr_buffer_release(buffer) : gr_resource_close(resource, GR_STREAM_OF_MAP);
    opengl_refuses_data(false);
    ck_assert_int_eq(status, GR_ERR_PARTIAL);
    assert_error(GR_ERR_PARTIAL, GL_INVALID_ENUM, "take back");
    ck_assert(!gr_resource_get_info(resource)->mapped);
    assert_ok(gr_buffer_release(_i ? must_map_image(resource) : buffer));
    assert_gl_clean();
}

static void store_level(GLint level, GLsizei size)
{
    glTexImage2D(GL_TEXTURE_2D, level, GL_RGBA8, size, size, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
}

/* Copying to this level would overwrite memory beyond its end. */
COPY_TEST(map_of_an_image_with_a_resized_level_is_refused)
{
    GLuint name = bound_texture(GL_TEXTURE_2D);
    for (GLint level = 0; level < 4; level++)
        store_level(level, 8 >> level);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_image_with(name, GL_TEXTURE_2D, GR_READ_WRITE, image_options()));
    assert_ok(gr_buffer_release(must_map_image(resource)));
    store_level(1, 256);
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "levels");
    store_level(1, 4);
    assert_ok(gr_buffer_release(must_map_image(resource)));
    glDeleteTextures(1, &name);
}

COPY_TEST(map_of_a_buffer_mapped_by_the_application_is_refused)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_copy(name, GR_READ_WRITE);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    ck_assert_ptr_nonnull(glMapBuffer(GL_ARRAY_BUFFER, GL_READ_WRITE));
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "glMapBuffer");
    ck_assert(glUnmapBuffer(GL_ARRAY_BUFFER));
    gr_buffer *buffer = must_map(resource);
    cuda_write_pattern(buffer, 2);
    ck_assert_ptr_nonnull(glMapBuffer(GL_ARRAY_BUFFER, GL_READ_WRITE));
    ck_assert_int_eq(gr_resource_unmap(resource, fx.stream), GR_ERR_STATE);
    ck_assert_str_eq(gr_last_error()->call, "gr_resource_unmap");
    assert_fails(gr_buffer_release(buffer), GR_ERR_STATE, 0, "glMapBuffer");
    ck_assert(gr_resource_get_info(resource)->mapped);
    ck_assert(glUnmapBuffer(GL_ARRAY_BUFFER));
    assert_ok(gr_buffer_release(buffer));
    assert_gl_pattern(name, SIZE, 2);
}

/* ---- Contexts -------------------------------------------------------------------------------- */

COPY_TEST(a_resource_can_be_freed_after_its_opengl_context)
{
    leave_context();
    gr_egl *egl = must_make(gr_egl_create(NULL));
    gr_resource *resource = must_copy(gl_buffer_pattern(SIZE, 1), GR_READ_WRITE);
    bool mapped = fault->calls("cuMemHostRegister") == 1 && fault->calls("cuMemAllocHost") == 0;
    assert_ok(gr_buffer_release(must_map(resource)));
    gr_egl_free(egl);
    enter_context();
    fault->reset();
    gr_resource_free(resource);
    assert_calls("cuMemFree", 1);
    assert_calls("cuMemHostUnregister", mapped);
}

GROUP("copies that the driver refuses", EVERY_IMAGE_GL)

COPY_TEST(creation_without_memory_is_refused)
{
    static const char *const functions[] = {"cuMemAllocHost", "cuMemAlloc"};
    GLuint name = gl_buffer_pattern(SIZE, 1);
    for (int i = 0; i < 2; i++) {
        let_fail(functions[i], CUDA_ERROR_OUT_OF_MEMORY, 0);
        refuse_mapping();
        assert_null(gr_from_gl_buffer_with(name, GR_READ_ONLY, &by_copy), GR_ERR_NO_MEMORY,
                    CUDA_ERROR_OUT_OF_MEMORY,
                    i == 0 ? "8192 bytes of pinned" : "4096 bytes of device");
    }
    struct image image = image_make("RGBA8", "CUBE", 8, 8, 1);
    let_fail("cuMipmappedArrayCreate", CUDA_ERROR_OUT_OF_MEMORY, 3);
    assert_null(gr_from_gl_image_with(image.name, GL_TEXTURE_CUBE_MAP, GR_READ_WRITE, &by_copy),
                GR_ERR_NO_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, "array");
    fault->reset();
    GR_AUTO(gr_resource) *resource = must_copy(name, GR_READ_WRITE);
    assert_ok(gr_buffer_release(must_map(resource)));
}

/*
 * The map uses a stream of another CUDA context. The stream has work before the map.
 *
 * Catches: the copy was queued on that stream, its end could not be recorded, and the memory of the
 * resource was freed too early.
 */
COPY_TEST(a_map_on_a_stream_of_another_context_queues_no_copies)
{
    CUstream stream;
    GLuint name = gl_buffer_filled(SIZE, 3);
    gr_resource *resource = must_copy(name, GR_READ_WRITE);
    CUcontext other = new_context(&stream);
    CU(CtxSetCurrent(fx.context));
    struct gate *gate = gate_put(stream);
    fault->reset();
    assert_null(gr_map(resource, stream), GR_ERR_CUDA, CUDA_ERROR_INVALID_HANDLE,
                "another CUDA context");
    assert_calls(IN, 0);
    gate_open(gate); /* with several devices, cuMemFree waits for the work of all contexts */
    gr_resource_free(resource);
    CU(StreamSynchronize(stream));
    end_context(other);
    assert_gl_bytes(name, SIZE, 3);
}
