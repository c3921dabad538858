/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Ends and failures: deleted objects, missing OpenGL and CUDA contexts, driver calls that fail
 * midway, and resources that are freed while mapped.
 */
#include "gl_peer.h"

GROUP("objects", add_peer_case)

/* The bytes are lost, but the mapping must end. */
PEER_TEST(a_mapped_buffer_that_was_deleted_can_be_released)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_peer(name, GR_WRITE_DISCARD);
    gr_buffer *buffer = must_map(resource);
    cuda_fill(buffer, 2);
    glDeleteBuffers(1, &name);
    assert_fails(gr_buffer_release(buffer), GR_ERR_PARTIAL, 0, "was deleted while it was mapped");
    ck_assert(!gr_resource_get_info(resource)->mapped);
    assert_calls(COPY, 0);
    assert_gl_clean();
}

GROUP("ends", add_peer_case)

/*
 * Runs without a current context, and with the context of the drawing device as the current one.
 * The streams belong to the context of the resource.
 */
PEER_TEST(calls_restore_the_current_context_of_the_caller)
{
    CUcontext contexts[2] = {NULL, drawing.context};
    GLuint name = gl_buffer_pattern(SIZE, 1);
    gr_resource *resource = must_peer(name, GR_READ_WRITE);
    for (int i = 0; i < 2; i++) {
        CU(CtxSetCurrent(contexts[i]));
        gr_buffer *buffer = must_map(resource);
        ck_assert_ptr_eq(current_context(), contexts[i]);
        CU(CtxSetCurrent(fx.context));
        cuda_write_pattern(buffer, 5 + (unsigned)i);
        CU(CtxSetCurrent(contexts[i]));
        assert_ok(gr_buffer_release(buffer));
        ck_assert_ptr_eq(current_context(), contexts[i]);
        assert_gl_pattern(name, SIZE, 5 + (unsigned)i);
    }
    gr_resource_free(resource);
    ck_assert_ptr_eq(current_context(), drawing.context);
    CU(CtxSetCurrent(fx.context));
}

/* The objects on the other GPU stay alive and end with the resource. */
PEER_TEST(a_resource_can_be_freed_after_its_cuda_context, 2)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    CUcontext own = new_context(NULL);
    gr_resource *resource = must_peer(name, GR_READ_WRITE);
    end_context(own);
    assert_null(gr_map(resource, fx.stream), GR_ERR_CUDA, CUDA_ERROR_CONTEXT_IS_DESTROYED,
                "was destroyed");
    assert_calls(MAP, 0);
    if (_i)
        assert_ok(gr_egl_make_current(NULL));
    gr_resource_free(resource);
    assert_ok(gr_egl_make_current(fx.egl));
    gr_resource_free(must_peer(name, GR_READ_WRITE));
    assert_calls(UNREGISTER, 2);
    assert_gl_pattern(name, SIZE, 1);
}

/*
 * The CUDA context is destroyed, and then the last buffer is released without the OpenGL context.
 */
PEER_TEST(the_registration_ends_later_in_the_opengl_context)
{
    CUstream stream = NULL;
    GLuint name = gl_buffer_pattern(SIZE, 1);
    CUcontext own = new_context(&stream);
    gr_resource *resource = must_peer(name, GR_READ_WRITE);
    gr_buffer *buffer = must_map_on(resource, stream);
    assert_ok(gr_resource_unmap(resource, stream));
    end_context(own);
    assert_fails(gr_resource_close(resource, stream), GR_ERR_PARTIAL,
                 CUDA_ERROR_CONTEXT_IS_DESTROYED, "was destroyed");
    gr_resource_free(resource);
    assert_ok(gr_egl_make_current(NULL));
    assert_ok(gr_buffer_release(buffer));
    assert_calls(UNREGISTER, 0);
    assert_ok(gr_egl_make_current(fx.egl));
    gr_resource_free(must_peer(name, GR_READ_WRITE));
    assert_calls(UNREGISTER, 2);
}

PEER_TEST(closing_or_freeing_a_mapped_resource_keeps_the_bytes, 4)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    const unsigned flags = _i / 2 ? GR_WRITE_DISCARD : GR_READ_WRITE;
    gr_resource *resource = must_peer(name, flags);
    gr_buffer *buffer = must_map(resource);
    cuda_write_pattern(buffer, 6);
    if (_i % 2) {
        gr_resource_free(resource);
        assert_calls(UNREGISTER, 0);
        assert_ok(gr_buffer_release(buffer));
    } else {
        assert_ok(gr_resource_close(resource, GR_STREAM_OF_MAP));
        ck_assert(gr_resource_get_info(resource)->closed);
        ck_assert_uint_eq(gr_buffer_ptr(buffer), 0);
        assert_ok(gr_buffer_release(buffer));
        gr_resource_free(resource);
    }
    assert_calls(UNREGISTER, 1);
    assert_gl_pattern(name, SIZE, 6);
}

/*
 * Both resources are unmapped as a batch, in the stream of the first. Freeing the second must wait
 * for that stream. In the software driver the unmap blocks, so there only the number of calls shows
 * the wait.
 */
PEER_TEST(freeing_a_resource_waits_for_its_unmap, 2)
{
    GLuint names[2] = {gl_buffer_filled(SIZE, 1), gl_buffer_filled(SIZE, 2)};
    gr_resource *resources[2];
    gr_buffer *buffers[2];
    for (int i = 0; i < 2; i++)
        resources[i] = must_peer(names[i], _i ? GR_WRITE_DISCARD : GR_READ_WRITE);
    assert_ok(gr_map_many(resources, 2, fx.stream, NULL, buffers));
    struct gate *gate = gate_put(fx.stream);
    for (int i = 0; i < 2; i++)
        cuda_fill(buffers[i], 7 + i);
    gate_open_after(gate, 100);
    assert_ok(gr_buffer_release_many(buffers, 2, fx.stream, NULL));
    fault->reset();
    gr_resource_free(resources[1]);
    assert_calls(UNREGISTER, 1);
    ck_assert(gate_is_open(gate));
    gr_resource_free(resources[0]);
    for (int i = 0; i < 2; i++)
        assert_gl_bytes(names[i], SIZE, 7 + i);
}

GROUP("refusals", add_peer_case)

PEER_TEST(a_failed_creation_leaves_nothing_behind)
{
    static const struct {
        const char *function;
        CUresult code;
        gr_status status;
        const char *text;
    } refusals[] = {
        {"cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY, GR_ERR_NO_MEMORY, "4096 bytes of device"},
        {"cuEventCreate", CUDA_ERROR_UNKNOWN, GR_ERR_CUDA, "event"},
        {"cuStreamCreate", CUDA_ERROR_UNKNOWN, GR_ERR_CUDA, "was refused"},
        {"cuDevicePrimaryCtxRetain", CUDA_ERROR_INVALID_DEVICE, GR_ERR_CUDA, "which draws"},
        {REGISTER, CUDA_ERROR_OPERATING_SYSTEM, GR_ERR_CUDA, "GR_TRANSPORT_INTEROP"},
    };
    GLuint name = gl_buffer_pattern(SIZE, 1);
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        let_fail(refusals[i].function, refusals[i].code, 0);
        assert_null(gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_peer), refusals[i].status,
                    refusals[i].code, refusals[i].text);
        ck_assert_uint_eq(fault->calls("cuMemFree"), fault->calls("cuMemAlloc") - (i == 0));
        ck_assert_ptr_eq(current_context(), fx.context);
    }
    fault->reset();
    GR_AUTO(gr_resource) *resource = must_peer(name, GR_READ_WRITE);
    assert_ok(gr_buffer_release(must_map(resource)));
}

/*
 * The unmap after a failed copy fails, too. Even then OpenGL memory must not be released while
 * copies of it are pending, also if the CUDA context cannot be made current.
 */
PEER_TEST(freeing_a_resource_waits_for_copies_after_a_failed_unmap, 2)
{
    gr_resource *resources[3];
    gr_buffer *buffers[3] = {NULL};
    for (unsigned i = 0; i < 3; i++)
        resources[i] = must_peer(gl_buffer_pattern(SIZE, i), GR_READ_WRITE);
    struct gate *gate = gate_put(fx.stream);
    let_fail(COPY, CUDA_ERROR_UNKNOWN, 2);
    ck_assert(fault->set(UNMAP, CUDA_ERROR_UNKNOWN, 0));
    assert_fails(gr_map_many(resources, 3, fx.stream, NULL, buffers), GR_ERR_CUDA,
                 CUDA_ERROR_UNKNOWN, "earlier work");
    ck_assert(!gate_is_open(gate));
    gate_open_after(gate, 100);
    if (_i) {
        CU(CtxSetCurrent(NULL));
        ck_assert(fault->set("cuCtxPushCurrent", CUDA_ERROR_UNKNOWN, 0));
    }
    /* The batch is in the stream of the first resource. The free waits for that stream. */
    gr_resource_free(resources[1]);
    ck_assert(gate_is_open(gate));
    CU(CtxSetCurrent(fx.context));
    gr_resource_free(resources[0]);
    gr_resource_free(resources[2]);
    assert_calls(UNREGISTER, 3);
}

/*
 * The copy of the first attempt is in another stream than that of the second, which could otherwise
 * unmap the buffer while the copy writes to it.
 */
PEER_TEST(a_failed_release_waits_for_its_copies)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_peer(name, GR_READ_WRITE);
    gr_buffer *buffer = must_map(resource);
    cuda_write_pattern(buffer, 2);
    struct gate *gate = gate_put(fx.other);
    gate_open_after(gate, 100);
    let_fail("cuEventRecord", CUDA_ERROR_UNKNOWN, 2); /* the copy was marked, the unmap fails */
    assert_fails(gr_buffer_release_many(&buffer, 1, fx.other, NULL), GR_ERR_CUDA,
                 CUDA_ERROR_UNKNOWN, "earlier work");
    ck_assert(gate_is_open(gate));
    fault->reset();
    assert_ok(gr_buffer_release(buffer));
    assert_gl_pattern(name, SIZE, 2);
}

PEER_TEST(a_failed_release_can_be_retried)
{
    static const char *const functions[] = {MAP, COPY, "cuEventRecord", UNMAP};
    static const unsigned flags[] = {GR_WRITE_DISCARD, GR_READ_WRITE};
    for (size_t f = 0; f < 2; f++) {
        GLuint name = gl_buffer_pattern(SIZE, 1);
        GR_AUTO(gr_resource) *resource = must_peer(name, flags[f]);
        for (size_t i = f; i < 4; i++) { /* resources that CUDA reads are already mapped */
            gr_buffer *buffer = must_map(resource);
            cuda_write_pattern(buffer, 2 + (unsigned)i);
            let_fail(functions[i], CUDA_ERROR_UNKNOWN, 0);
            assert_fails(gr_buffer_release(buffer), GR_ERR_CUDA, CUDA_ERROR_UNKNOWN,
                         "earlier work");
            ck_assert(gr_resource_get_info(resource)->mapped);
            assert_ok(gr_buffer_release(buffer));
            assert_gl_pattern(name, SIZE, 2 + (unsigned)i);
        }
    }
}

/*
 * One gr_map_many() call maps resources of two transports. If the second map fails, the first
 * resource is unmapped.
 */
PEER_TEST(a_failed_map_many_unmaps_resources_of_the_other_transport)
{
    GLuint names[2] = {gl_buffer_pattern(SIZE, 1), gl_buffer_pattern(SIZE, 2)};
    gr_resource *resources[2] = {must_peer(names[0], GR_READ_WRITE),
                                 gr_from_gl_buffer_with(names[1], GR_READ_WRITE, &by_interop)};
    gr_buffer *buffers[2];
    assert_made(resources[1]);
    let_fail(MAP, CUDA_ERROR_UNKNOWN, 1);
    assert_fails(gr_map_many(resources, 2, fx.stream, NULL, buffers), GR_ERR_CUDA,
                 CUDA_ERROR_UNKNOWN, "could not be mapped");
    ck_assert(!gr_resource_get_info(resources[0])->mapped &&
              !gr_resource_get_info(resources[1])->mapped);
    assert_ok(gr_map_many(resources, 2, fx.stream, NULL, buffers));
    for (unsigned i = 0; i < 2; i++)
        assert_cuda_pattern(buffers[i], i + 1);
    for (unsigned i = 0; i < 2; i++)
        cuda_fill(buffers[i], (int)i + 5);
    assert_ok(gr_buffer_release_many(buffers, 2, GR_STREAM_OF_MAP, NULL));
    for (unsigned i = 0; i < 2; i++) {
        assert_gl_bytes(names[i], SIZE, (int)i + 5);
        gr_resource_free(resources[i]);
    }
}

/* A registration that fails leaves nothing, and the next map tries again. */
PEER_TEST(a_map_follows_a_resized_buffer)
{
    gr_gl_options options = by_peer;
    options.follow_storage = true;
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_buffer_with(name, GR_READ_WRITE, &options));
    for (unsigned i = 0; i < 2; i++) {
        const size_t size = i ? SIZE / 2 : 2 * SIZE;
        glBindBuffer(GL_COPY_WRITE_BUFFER, name);
        glBufferData(GL_COPY_WRITE_BUFFER, (GLsizeiptr)size, NULL, GL_DYNAMIC_DRAW);
        gl_write_pattern(name, size, 5 * i);
        let_fail(REGISTER, CUDA_ERROR_OPERATING_SYSTEM, 0);
        assert_null(gr_map(resource, fx.stream), GR_ERR_CUDA, CUDA_ERROR_OPERATING_SYSTEM, "");
        ck_assert_uint_eq(fault->calls("cuMemAlloc"), 1);
        fault->reset();
        go_round(resource, size, 5 * i);
        go_round(resource, size, 5 * i + 1);
    }
    let_fail("cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY, 0);
    glBufferData(GL_COPY_WRITE_BUFFER, 64, NULL, GL_DYNAMIC_DRAW);
    assert_null(gr_map(resource, fx.stream), GR_ERR_NO_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, "");
    fault->reset();
}
