/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Ends and failures: deleted objects, missing OpenGL and CUDA contexts, driver calls that fail
 * midway, and resources that are freed while mapped.
 */
#include "gl_peer.h"

#include <string.h>

GROUP("objects", EVERY_PEER)

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
    assert_gl_clean();
}

/* ---- Copies that OpenGL refuses -------------------------------------------------------------- */

static void EPOXY_CALLSPEC refuse_copy(GLuint from, GLuint to, GLintptr at, GLintptr offset,
                                       GLsizeiptr size)
{
    glEnable(GL_NONE);
    (void)from, (void)to, (void)at, (void)offset, (void)size;
}

static void EPOXY_CALLSPEC refuse_dispatch(GLuint x, GLuint y, GLuint z)
{
    glEnable(GL_NONE);
    (void)x, (void)y, (void)z;
}

/* Lets OpenGL refuse each copy between buffers, with GL_INVALID_ENUM. */
static void refuse_copies(bool refuse)
{
    static __typeof__(epoxy_glCopyNamedBufferSubData) copy;
    static __typeof__(epoxy_glDispatchCompute) dispatch;
    if (refuse) {
        copy = epoxy_glCopyNamedBufferSubData;
        dispatch = epoxy_glDispatchCompute;
    }
    epoxy_glCopyNamedBufferSubData = refuse ? refuse_copy : copy;
    epoxy_glDispatchCompute = refuse ? refuse_dispatch : dispatch;
}

/* Each OpenGL copy that was issued is followed by a signal, also after an error. */
PEER_TEST(a_map_that_opengl_cannot_copy_maps_nothing)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_peer(name, GR_READ_WRITE);
    go_round(resource, SIZE, 1);
    pretend_counts.signals = 0;
    refuse_copies(true);
    assert_null(gr_map(resource, fx.stream), GR_ERR_GL, GL_INVALID_ENUM, "could not read");
    refuse_copies(false);
    ck_assert(!gr_resource_get_info(resource)->mapped);
    if (gr_cuda_is_software())
        ck_assert_uint_eq(pretend_counts.signals, case_signals());
    assert_gl_clean();
    go_round(resource, SIZE, 2);
}

/* The mapping has ended, and the bytes are lost. */
PEER_TEST(a_release_that_opengl_cannot_copy_ends_the_mapping, 2)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_peer(name, _i ? GR_WRITE_DISCARD : GR_READ_WRITE);
    gr_buffer *buffer = must_map(resource);
    cuda_write_pattern(buffer, 2);
    refuse_copies(true);
    assert_fails(gr_buffer_release(buffer), GR_ERR_PARTIAL, GL_INVALID_ENUM, "could not take back");
    refuse_copies(false);
    ck_assert(!gr_resource_get_info(resource)->mapped);
    assert_gl_clean();
    assert_gl_pattern(name, SIZE, 1);
    write_mapped(resource, 3);
    assert_gl_pattern(name, SIZE, 3);
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
    struct gate *gate = gate_put(fx.other);
    gate_open_after(gate, 100);
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

struct step {
    const char *function;
    long after;
};

static const struct step *steps(size_t *n)
{
    static const struct step signals[] = {{SIGNAL, 0}, {COPY, 0}, {RECORD, 0}},
                             waits[] = {{RECORD, 0}, {RECORD, 1}, {COPY, 0}};
    *n = case_crosses() ? 3 : 1;
    return case_signals() ? signals : waits;
}

PEER_TEST(a_failed_release_can_be_retried, 2)
{
    size_t n;
    const struct step *step = steps(&n);
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_peer(name, _i ? GR_READ_WRITE : GR_WRITE_DISCARD);
    for (unsigned i = 0; i < n; i++) {
        gr_buffer *buffer = must_map(resource);
        cuda_write_pattern(buffer, 2 + i);
        let_fail(step[i].function, CUDA_ERROR_UNKNOWN, step[i].after);
        assert_fails(gr_buffer_release(buffer), GR_ERR_CUDA, CUDA_ERROR_UNKNOWN, "earlier work");
        ck_assert(gr_resource_get_info(resource)->mapped);
        assert_gl_pattern(name, SIZE, 1 + i);
        assert_ok(gr_buffer_release(buffer));
        assert_gl_pattern(name, SIZE, 2 + i);
    }
}

/* The copies of the first resources are in the stream, and the first one also has its copy back. */
PEER_TEST(a_failed_release_of_several_can_be_retried)
{
    enum { MANY = 3 };
    gr_resource *resources[MANY];
    gr_buffer *buffers[MANY];
    size_t n;
    const struct step *step = steps(&n);
    for (unsigned i = 0; i < MANY; i++)
        resources[i] = must_peer(gl_buffer_pattern(SIZE, i), i ? GR_READ_WRITE : GR_WRITE_DISCARD);
    for (unsigned k = 0; k < n; k++) {
        assert_ok(gr_map_many(resources, MANY, fx.stream, NULL, buffers));
        for (unsigned i = 0; i < MANY; i++)
            cuda_write_pattern(buffers[i], 10 * k + i + 20);
        const long after = strcmp(step[k].function, SIGNAL) == 0 ? 0 : 1;
        let_fail(step[k].function, CUDA_ERROR_UNKNOWN, after);
        assert_fails(gr_buffer_release_many(buffers, MANY, fx.stream, NULL), GR_ERR_CUDA,
                     CUDA_ERROR_UNKNOWN, "earlier work");
        for (unsigned i = 0; i < MANY; i++)
            ck_assert(gr_resource_get_info(resources[i])->mapped);
        assert_ok(gr_buffer_release_many(buffers, MANY, fx.other, NULL));
        for (unsigned i = 0; i < MANY; i++)
            assert_gl_pattern(gr_gl_name(resources[i]), SIZE, 10 * k + i + 20);
    }
    free_resources(resources, MANY);
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
    let_fail("cuGraphicsMapResources", CUDA_ERROR_UNKNOWN, 0);
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

/*
 * The copies of a failed map are in the stream, and a copy of a third resource failed. Their memory
 * must not end before the stream has passed them.
 */
GROUP("freed after a failed map", TWO_GPUS)

PEER_TEST(freeing_a_resource_after_a_failed_map_keeps_its_memory)
{
    gr_resource *resources[3];
    gr_buffer *buffers[3] = {NULL};
    for (unsigned i = 0; i < 3; i++)
        resources[i] = must_peer(gl_buffer_pattern(SIZE, i), GR_READ_WRITE);
    struct gate *gate = gate_put(fx.stream);
    let_fail(COPY, CUDA_ERROR_UNKNOWN, 2);
    assert_fails(gr_map_many(resources, 3, fx.stream, NULL, buffers), GR_ERR_CUDA,
                 CUDA_ERROR_UNKNOWN, "earlier work");
    free_resources(resources, 3);
    ck_assert(!gate_is_open(gate));
    assert_calls("cuMemFree", 0);
    gate_open(gate);
    CU(StreamSynchronize(fx.stream));
    gr_resource_free(must_peer(gl_buffer_pattern(SIZE, 1), GR_READ_WRITE));
    assert_calls("cuMemFree", 4);
}
