/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Copies that are impossible: the object was deleted or is locked, another context is current, or a
 * driver call fails midway.
 */
#include "gl_copy_tests.h"

#define SIZE 4096

#define IN  "cuMemcpyHtoDAsync"
#define OUT "cuMemcpyDtoHAsync"

GROUP("objects and contexts of copies", EVERY_IMAGE_GL)

/* The bytes are lost, but the mappings must end. Catches: the releases returned GR_OK. */
COPY_TEST(a_mapped_object_that_was_deleted_can_be_released)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    struct image image = image_make("RGBA8", "2D", 8, 8, 2);
    GR_AUTO(gr_resource) *resource = must_copy(name, GR_READ_WRITE);
    GR_AUTO(gr_resource) *texture = must_copy_image(&image, GR_READ_WRITE);
    gr_buffer *buffer = must_map(resource), *mapped = must_map_image(texture);
    glDeleteBuffers(1, &name);
    image_delete(&image);
    assert_fails(gr_buffer_release(buffer), GR_ERR_PARTIAL, 0, "was deleted while it was mapped");
    assert_fails(gr_buffer_release(mapped), GR_ERR_PARTIAL, 0, "was deleted while it was mapped");
    ck_assert(!gr_resource_get_info(resource)->mapped && !gr_resource_get_info(texture)->mapped);
    assert_gl_clean();
}

/* A large buffer is copied in pieces, and each piece is waited for separately. */
COPY_TEST(releasing_a_deleted_buffer_waits_for_the_stream)
{
    GLuint name = gl_buffer_filled(9 << 20, 1);
    GR_AUTO(gr_resource) *resource = must_copy(name, GR_WRITE_DISCARD);
    gr_buffer *buffer = must_map(resource);
    glDeleteBuffers(1, &name);
    struct gate *gate = gate_put(fx.stream);
    gate_open_after(gate, 30);
    assert_fails(gr_buffer_release(buffer), GR_ERR_PARTIAL, 0, "deleted");
    ck_assert(gate_is_open(gate));
}

/* Catches: each further release and the close failed like the first release. */
COPY_TEST(a_release_that_opengl_refuses_ends_the_mapping, 4)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    struct image image = image_filled("RGBA8", "2D", 8, 8, 1, 1);
    GR_AUTO(gr_resource) *resource =
        _i % 2 ? must_copy_image(&image, GR_READ_WRITE) : must_copy(name, GR_READ_WRITE);
    gr_buffer *buffer = gr_map(resource, fx.stream);
    assert_made(buffer);
    opengl_refuses_data(true);
    gr_status status =
        _i < 2 ? gr_buffer_release(buffer) : gr_resource_close(resource, GR_STREAM_OF_MAP);
    opengl_refuses_data(false);
    ck_assert_int_eq(status, GR_ERR_PARTIAL);
    assert_error(GR_ERR_PARTIAL, GL_INVALID_ENUM, "take back");
    ck_assert(!gr_resource_get_info(resource)->mapped);
    if (_i >= 2)
        assert_ok(gr_buffer_release(buffer));
    else
        assert_ok(gr_buffer_release(must_make(gr_map(resource, fx.stream))));
    assert_gl_clean();
}

static void store_level(GLint level, GLsizei size)
{
    glTexImage2D(GL_TEXTURE_2D, level, GL_RGBA8, size, size, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
}

/* Copying to this level would overwrite memory beyond its end. */
COPY_TEST(map_of_an_image_with_a_resized_level_is_refused)
{
    GLuint name = 0;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
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

/*
 * CUDA memory is freed at once. The OpenGL objects wait for their context, which may never be
 * current again.
 */
COPY_TEST(cuda_memory_is_freed_without_the_opengl_context)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    gr_resource *resource = must_copy(name, GR_READ_WRITE);
    assert_ok(gr_buffer_release(must_map(resource)));
    fault->reset();
    leave_context();
    gr_resource_free(resource);
    unsigned freed = fault->calls("cuMemFree");
    enter_context();
    gr_resource_free(must_copy(name, GR_READ_WRITE)); /* frees the OpenGL objects */
    ck_assert_uint_eq(freed, 1);
}

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

/* The copies of a failed map are still in the stream when the resources are freed. */
COPY_TEST(the_memory_of_failed_copies_outlives_its_resource)
{
    gr_resource *resources[2] = {must_copy(gl_buffer_filled(SIZE, 1), GR_READ_WRITE),
                                 must_copy(gl_buffer_filled(SIZE, 2), GR_READ_WRITE)};
    gr_buffer *buffers[2];
    struct gate *gate = gate_put(fx.stream);
    let_fail(IN, CUDA_ERROR_UNKNOWN, 1);
    assert_fails(gr_map_many(resources, 2, fx.stream, NULL, buffers), GR_ERR_CUDA,
                 CUDA_ERROR_UNKNOWN, "copy");
    gate_open_after(gate, 2000); /* opens late: a call that waits is detected, but still ends */
    gr_resource_free(resources[0]);
    gr_resource_free(resources[1]);
    ck_assert(!gate_is_open(gate));
    gate_open(gate);
    CU(StreamSynchronize(fx.stream));
    gr_resource_free(
        /* Also frees the objects whose free was deferred. */
        must_copy(gl_buffer_filled(64, 1), GR_READ_WRITE));
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

/*
 * One gr_map_many() call maps resources of two transports. If the second map fails, the first
 * resource is unmapped.
 */
COPY_TEST(a_failed_map_many_unmaps_resources_of_the_other_transport)
{
    GLuint names[2] = {gl_buffer_pattern(SIZE, 1), gl_buffer_pattern(SIZE, 2)};
    gr_resource *resources[2] = {gr_from_gl_buffer_with(names[0], GR_READ_WRITE, &by_any),
                                 must_copy(names[1], GR_READ_WRITE)};
    gr_buffer *buffers[2];
    assert_made(resources[0]);
    /*
     * The copy of the second resource must fail. If the first resource is copied, too, its copy
     * must succeed.
     */
    let_fail(IN, CUDA_ERROR_UNKNOWN,
             gr_resource_get_info(resources[0])->transport == GR_TRANSPORT_COPY);
    assert_fails(gr_map_many(resources, 2, fx.stream, NULL, buffers), GR_ERR_CUDA,
                 CUDA_ERROR_UNKNOWN, "copy");
    ck_assert(!gr_resource_get_info(resources[0])->mapped &&
              !gr_resource_get_info(resources[1])->mapped);
    assert_ok(gr_map_many(resources, 2, fx.stream, NULL, buffers));
    for (unsigned i = 0; i < 2; i++) {
        assert_cuda_pattern(buffers[i], i + 1);
        cuda_fill(buffers[i], (int)i + 5);
    }
    assert_ok(gr_buffer_release_many(buffers, 2, GR_STREAM_OF_MAP, NULL));
    for (unsigned i = 0; i < 2; i++) {
        assert_gl_bytes(names[i], SIZE, (int)i + 5);
        gr_resource_free(resources[i]);
    }
}

COPY_TEST(a_failed_release_can_be_retried)
{
    static const char *const functions[] = {OUT, "cuEventQuery"};
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_copy(name, GR_READ_WRITE);
    for (int i = 0; i < 2; i++) {
        gr_buffer *buffer = must_map(resource);
        cuda_write_pattern(buffer, 2);
        let_fail(functions[i], CUDA_ERROR_ILLEGAL_ADDRESS, 0);
        assert_fails(gr_buffer_release(buffer), GR_ERR_DEVICE_LOST, CUDA_ERROR_ILLEGAL_ADDRESS,
                     "copy");
        ck_assert(gr_resource_get_info(resource)->mapped);
        if (i == 0)
            assert_gl_pattern(name, SIZE, 1);
        assert_ok(gr_buffer_release(buffer));
        assert_gl_pattern(name, SIZE, 2);
    }
}
