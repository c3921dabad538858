/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Ends and failures: deleted objects, missing OpenGL and CUDA contexts, driver calls that fail
 * midway, and resources that are freed while mapped.
 */
#include "gl_peer.h"

GROUP("objects", EVERY_PEER)

/* Each OpenGL copy that was issued is followed by a signal, also after an error. */
PEER_TEST(a_map_that_opengl_cannot_copy_maps_nothing)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_peer(name, GR_READ_WRITE);
    go_round(resource, SIZE, 1);
    pretend_counts.signals = 0;
    opengl_refuses_data(true);
    assert_null(gr_map(resource, fx.stream), GR_ERR_GL, GL_INVALID_ENUM, "could not read");
    opengl_refuses_data(false);
    ck_assert(!gr_resource_get_info(resource)->mapped);
    if (gr_cuda_is_software())
        ck_assert_uint_eq(pretend_counts.signals, case_signals());
    assert_gl_clean();
    go_round(resource, SIZE, 2);
}

GROUP("ends between two GPUs", TWO_GPUS)

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

GROUP("ends", EVERY_PEER)

/* The staging buffers stay alive and end with the resource. */
PEER_TEST(a_resource_can_be_freed_after_its_cuda_context, 2)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    const unsigned buffers = count_gl_buffers();
    CUcontext own = new_context(NULL);
    gr_resource *resource = must_peer(name, GR_READ_WRITE);
    end_context(own);
    assert_null(gr_map(resource, fx.stream), GR_ERR_CUDA, CUDA_ERROR_CONTEXT_IS_DESTROYED,
                "was destroyed");
    assert_calls(COPY, 0);
    assert_calls(WAIT, 0);
    if (_i)
        assert_ok(gr_egl_make_current(NULL));
    gr_resource_free(resource);
    assert_ok(gr_egl_make_current(fx.egl));
    gr_resource_free(must_peer(name, GR_READ_WRITE));
    ck_assert_uint_eq(count_gl_buffers(), buffers);
    assert_gl_pattern(name, SIZE, 1);
}

/*
 * The CUDA context is destroyed, and then the last buffer is released without the OpenGL context.
 */
PEER_TEST(the_staging_buffers_end_later_in_the_opengl_context)
{
    CUstream stream = NULL;
    GLuint name = gl_buffer_pattern(SIZE, 1);
    const unsigned buffers = count_gl_buffers();
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
    assert_ok(gr_egl_make_current(fx.egl));
    gr_resource_free(must_peer(name, GR_READ_WRITE));
    ck_assert_uint_eq(count_gl_buffers(), buffers);
}

PEER_TEST(closing_or_freeing_a_mapped_resource_keeps_the_bytes, 4)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    const unsigned flags = _i / 2 ? GR_WRITE_DISCARD : GR_READ_WRITE;
    const unsigned buffers = count_gl_buffers();
    gr_resource *resource = must_peer(name, flags);
    gr_buffer *buffer = must_map(resource);
    cuda_write_pattern(buffer, 6);
    if (_i % 2) {
        gr_resource_free(resource);
        ck_assert_uint_gt(count_gl_buffers(), buffers);
        assert_ok(gr_buffer_release(buffer));
    } else {
        assert_ok(gr_resource_close(resource, GR_STREAM_OF_MAP));
        ck_assert(gr_resource_get_info(resource)->closed);
        ck_assert_uint_eq(gr_buffer_ptr(buffer), 0);
        assert_ok(gr_buffer_release(buffer));
        gr_resource_free(resource);
    }
    ck_assert_uint_eq(count_gl_buffers(), buffers);
    assert_gl_pattern(name, SIZE, 6);
}

/*
 * The copies to the objects may still be pending. The memory of the freed resources is reused by
 * later ones.
 */
PEER_TEST(a_resource_freed_after_its_release_keeps_the_bytes, 2)
{
    GLuint names[2] = {gl_buffer_filled(SIZE, 1), gl_buffer_filled(SIZE, 2)};
    GLuint later = gl_buffer_filled(SIZE, 3);
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
    ck_assert_int_eq(gate_is_open(gate), tested->release_waits);
    free_resources(resources, 2); /* NVIDIA's OpenGL waits here: it deletes the shared memory */
    GR_AUTO(gr_resource) *next = must_peer(later, GR_WRITE_DISCARD);
    gr_buffer *buffer = must_map_on(next, fx.other);
    CU(MemsetD8Async(gr_buffer_ptr(buffer), 9, SIZE, fx.other));
    assert_ok(release_on(buffer, fx.other));
    for (int i = 0; i < 2; i++)
        assert_gl_bytes(names[i], SIZE, 7 + i);
    assert_gl_bytes(later, SIZE, 9);
}

GROUP("refusals", EVERY_PEER)

struct refusal {
    const char *function;
    CUresult code;
    long after;
    gr_status status;
    const char *text;
};

static void assert_leaves_nothing(const struct refusal *refusal, GLuint name, unsigned flags)
{
    const unsigned buffers = count_gl_buffers();
    const int fds = open_fds();
    const unsigned long semaphores = pretend_counts.alive;
    let_fail(refusal->function, refusal->code, refusal->after);
    assert_null(gr_from_gl_buffer_with(name, flags, &by_peer), refusal->status, refusal->code,
                refusal->text);
    ck_assert_ptr_eq(current_context(), fx.context);
    fault->reset();
    ck_assert_uint_eq(count_gl_buffers(), buffers);
    ck_assert_int_eq(open_fds(), fds);
    ck_assert_uint_eq(pretend_counts.alive, semaphores);
}

PEER_TEST(a_failed_creation_leaves_nothing_behind)
{
    static const struct refusal of_both[] = {
        {"cuEventCreate", CUDA_ERROR_UNKNOWN, 0, GR_ERR_CUDA, "event"},
        {"cuGLGetDevices", CUDA_ERROR_OPERATING_SYSTEM, 0, GR_ERR_UNSUPPORTED, "needs a GPU"},
        {"cuMemCreate", CUDA_ERROR_NOT_SUPPORTED, 0, GR_ERR_CUDA, "memory"},
    };
    static const struct refusal of_two[] = {
        {"cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY, 0, GR_ERR_NO_MEMORY, "2097152 bytes of device"},
        {"cuDeviceCanAccessPeer", CUDA_ERROR_UNKNOWN, 0, GR_ERR_UNSUPPORTED, "needs a GPU"},
    };
    GLuint name = gl_buffer_pattern(LARGE, 1);
    gr_resource_free(must_peer(name, GR_READ_WRITE));
    for (size_t i = 0; i < sizeof(of_both) / sizeof(of_both[0]); i++)
        assert_leaves_nothing(&of_both[i], name, GR_READ_WRITE);
    for (size_t i = 0; i < sizeof(of_two) / sizeof(of_two[0]) && case_crosses(); i++)
        assert_leaves_nothing(&of_two[i], name, GR_READ_WRITE);
    struct refusal slot = {"cuMemCreate", CUDA_ERROR_OUT_OF_MEMORY, 0, GR_ERR_NO_MEMORY, "memory"};
    for (; slot.after < 4; slot.after++)
        assert_leaves_nothing(&slot, name, GR_WRITE_DISCARD);
    GR_AUTO(gr_resource) *resource = must_peer(name, GR_READ_WRITE);
    go_round(resource, LARGE, 1);
}

/* The copy of the first attempt is in another stream than that of the second. */
PEER_TEST(a_failed_release_waits_for_its_copies)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_peer(name, GR_READ_WRITE);
    gr_buffer *buffer = must_map(resource);
    cuda_write_pattern(buffer, 2);
    struct gate *gate = gate_open_after(gate_put(fx.other), 100);
    /* without semaphores: the event after the copy was recorded, the last one is not */
    let_fail(case_signals() ? SIGNAL : RECORD, CUDA_ERROR_UNKNOWN, case_signals() ? 0 : 1);
    assert_fails(gr_buffer_release_many(&buffer, 1, fx.other, NULL), GR_ERR_CUDA,
                 CUDA_ERROR_UNKNOWN, "earlier work");
    ck_assert(gate_is_open(gate));
    ck_assert(gr_resource_get_info(resource)->mapped);
    fault->reset();
    assert_ok(gr_buffer_release(buffer));
    assert_gl_pattern(name, SIZE, 2);
}

/* An attempt that fails leaves nothing, and the next map tries again. */
PEER_TEST(a_map_follows_a_resized_buffer)
{
    const struct {
        size_t size;
        const char *function;
    } changes[] = {{LARGE, "cuMemCreate"},
                   {LARGE + SIZE, case_crosses() ? "cuMemAlloc" : "cuMemCreate"}};
    gr_gl_options options = by_peer;
    options.follow_storage = true;
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_buffer_with(name, GR_READ_WRITE, &options));
    for (unsigned i = 0; i < 2; i++) {
        const size_t size = changes[i].size;
        const unsigned buffers = count_gl_buffers();
        glBindBuffer(GL_COPY_WRITE_BUFFER, name);
        glBufferData(GL_COPY_WRITE_BUFFER, (GLsizeiptr)size, NULL, GL_DYNAMIC_DRAW);
        gl_write_pattern(name, size, 5 * i);
        let_fail(changes[i].function, CUDA_ERROR_OUT_OF_MEMORY, 0);
        assert_null(gr_map(resource, fx.stream), GR_ERR_NO_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, "");
        ck_assert(!gr_resource_get_info(resource)->mapped);
        fault->reset();
        go_round(resource, size, 5 * i);
        go_round(resource, size, 5 * i + 1);
        ck_assert_uint_eq(count_gl_buffers(), buffers);
    }
}
