/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The lifetime of shared resources: they end in every order, with a wrong context, without a
 * context, and after contexts were destroyed.
 */
#include "gl_shared.h"

#include <string.h>

#define SIZE 4096

static gr_egl *stranger;

static void make_stranger(void)
{
    stranger = must_make(gr_egl_create(NULL));
    assert_ok(gr_egl_make_current(fx.egl));
}

static void end_stranger(void)
{
    assert_ok(gr_egl_make_current(fx.egl));
    gr_egl_free(stranger);
}

/* Frees the objects whose free was deferred until this context is current. */
static void collect(void)
{
    gr_resource_free(must_register(gl_buffer_filled(16, 0)));
}

GROUP("ends", add_shared_case)

WAY_TEST(the_opengl_buffer_ends_with_its_resource, WAYS)
{
    gr_resource *resource = must_share(SIZE, GR_READ_WRITE);
    GLuint name = gr_gl_name(resource);
    ck_assert(glIsBuffer(name));
    assert_ok(gr_resource_close(resource, CU_STREAM_LEGACY));
    ck_assert(gr_resource_get_info(resource)->closed);
    ck_assert(glIsBuffer(name)); /* the OpenGL object ends with the memory of the resource */
    assert_ok(gr_resource_close(resource, CU_STREAM_LEGACY));
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "closed");
    gr_resource_free(resource);
    ck_assert(!glIsBuffer(name));
    assert_gl_clean();
}

/*
 * OpenGL refuses imports of semaphores: of the first or the second semaphore of a pair, or of pairs
 * of both kinds (see `ways`). There is always a fallback.
 */
static const struct {
    int way; /* the kind of wait that is expected without refusals, an index into `ways` */
    unsigned taken, refused;
    int left; /* the kind of wait after the refusals */
} refusals[] = {{0, 0, 1, 1}, {0, 1, 1, 1}, {0, 0, 2, 2}, {1, 0, 1, 2}, {1, 1, 1, 2}};
enum { REFUSALS = sizeof(refusals) / sizeof(*refusals) };

GROUP("refusals", add_shared_case)

SHARED_TEST(without_semaphores_another_kind_of_wait_is_used, REFUSALS)
{
    need_kernels();
    const char *missing = way_missing(refusals[_i].way);
    if (missing)
        skip("%s", missing);
    if (!pretend_refusals(refusals[_i].taken, refusals[_i].refused))
        skip("a GPU's OpenGL takes what its Vulkan exports");
    gr_resource *resource = must_share(SIZE, GR_READ_WRITE);
    assert_described(resource, ways[refusals[_i].left].text);
    ck_assert_uint_eq(pretend_counts.alive, refusals[_i].left == 2 ? 0 : 2);
    shared_bytes_both_ways(resource, SIZE);
    gr_resource_free(resource);
    assert_gl_clean();
}

GROUP("ends", add_shared_case)

WAY_TEST(a_mapping_keeps_a_freed_resource_alive, WAYS)
{
    gr_resource *resource = must_share(SIZE, GR_READ_WRITE);
    GLuint name = gr_gl_name(resource);
    gr_buffer *buffer = must_map(resource);
    gr_resource_free(resource);
    ck_assert(glIsBuffer(name));
    fill_and_release(buffer, 0x14);
    ck_assert(!glIsBuffer(name));
}

/* The stream is still writing when the resource is freed. */
WAY_TEST(free_while_the_stream_works_is_safe, WAYS)
{
    need_kernels();
    for (int i = 0; i < 3; i++) {
        GR_AUTO(gr_resource) *resource = must_share(SIZE, GR_READ_WRITE);
        gr_buffer *buffer = must_map(resource);
        gate_open_after(gate_put(fx.stream), 20);
        kernel_fill_pattern(gr_buffer_ptr(buffer), SIZE, 3, fx.stream);
        assert_ok(gr_buffer_release(buffer));
    }
    CU(StreamSynchronize(fx.stream));
    collect();
}

WAY_TEST(a_resource_can_be_used_after_another_was_freed, WAYS)
{
    gr_resource *first = must_share(SIZE, GR_READ_WRITE), *second = must_share(SIZE, GR_READ_WRITE);
    fill_mapped(first, 1);
    gr_resource_free(first);
    for (int i = 0; i < 5; i++) {
        fill_mapped(second, i);
        assert_gl_bytes(gr_gl_name(second), SIZE, i);
    }
    gr_resource_free(second);
}

static TCase *add_contexts_case(Suite *suite, const char *name)
{
    return with_fixture(add_shared_case(suite, name), make_stranger, end_stranger);
}

GROUP("contexts", add_contexts_case)

static void assert_refused(gr_resource *resource, gr_buffer *mapped, const char *text)
{
    gr_buffer *none = NULL;
    if (mapped) {
        assert_fails(gr_buffer_release(mapped), GR_ERR_GL, 0, text);
        assert_fails(gr_resource_unmap(resource, fx.stream), GR_ERR_GL, 0, text);
        ck_assert(gr_resource_get_info(resource)->mapped);
    } else {
        assert_null(gr_map(resource, fx.stream), GR_ERR_GL, 0, text);
        assert_fails(gr_map_many(&resource, 1, fx.stream, NULL, &none), GR_ERR_GL, 0, text);
        ck_assert_ptr_null(none);
    }
    assert_fails(gr_resource_close(resource, fx.stream), GR_ERR_GL, 0, text);
    ck_assert(!gr_resource_get_info(resource)->closed);
}

WAY_TEST(calls_in_the_wrong_context_are_refused, WAYS)
{
    GR_AUTO(gr_resource) *resource = must_share(SIZE, GR_READ_WRITE);
    for (int round = 0; round < 4; round++) {
        gr_buffer *buffer = round % 2 ? must_map(resource) : NULL;
        assert_ok(gr_egl_make_current(round < 2 ? stranger : NULL));
        assert_refused(resource, buffer,
                       round < 2 ? "another context" : "No OpenGL context is current");
        assert_ok(gr_egl_make_current(fx.egl));
        if (!buffer)
            buffer = must_map(resource);
        cuda_fill(buffer, round);
        assert_ok(gr_buffer_release(buffer));
        assert_gl_bytes(gr_gl_name(resource), SIZE, round);
    }
}

WAY_TEST(a_resource_freed_in_the_wrong_context_ends_later, WAYS)
{
    for (int round = 0; round < 2; round++) {
        gr_resource *resource = must_share(SIZE, GR_READ_WRITE);
        GLuint name = gr_gl_name(resource);
        assert_ok(gr_egl_make_current(round ? stranger : NULL));
        gr_resource_free(resource);
        assert_ok(gr_egl_make_current(fx.egl));
        ck_assert(glIsBuffer(name));
        collect();
        ck_assert(!glIsBuffer(name));
    }
}

WAY_TEST(a_resource_freed_on_another_thread_ends_later, WAYS)
{
    gr_resource *resource = must_share(SIZE, GR_READ_WRITE);
    GLuint name = gr_gl_name(resource);
    fill_mapped(resource, 1);
    elsewhere(free_elsewhere, resource);
    ck_assert(glIsBuffer(name));
    collect();
    ck_assert(!glIsBuffer(name));
}

/* ---- Destroyed contexts ---------------------------------------------------------------------- */

WAY_TEST(resources_can_be_freed_after_their_context, WAYS)
{
    for (int round = 0; round < 3; round++) {
        gr_egl *egl = must_make(gr_egl_create(NULL));
        gr_resource *resource = must_share(SIZE, GR_READ_WRITE),
                    *freed = must_share(SIZE, GR_READ_WRITE);
        fill_mapped(resource, 1);
        assert_ok(gr_egl_make_current(fx.egl));
        gr_resource_free(freed);
        gr_egl_free(egl);
        assert_null(gr_map(resource, fx.stream), GR_ERR_GL, 0, "has been destroyed");
        gr_resource_free(resource);
        CU(StreamSynchronize(fx.stream));
    }
    collect();
    pretend_counts.alive = 0; /* the simulated OpenGL objects ended with the contexts */
}

WAY_TEST(two_contexts_share_with_cuda_alternately, WAYS)
{
    gr_resource *resources[2];
    gr_egl *const contexts[2] = {fx.egl, stranger};
    for (int i = 0; i < 2; i++) {
        assert_ok(gr_egl_make_current(contexts[i]));
        resources[i] = must_share(SIZE, GR_READ_WRITE);
    }
    for (int round = 0; round < 60; round++) {
        int i = round % 3 == 0;
        assert_ok(gr_egl_make_current(contexts[i]));
        fill_mapped(resources[i], round);
        assert_gl_bytes(gr_gl_name(resources[i]), SIZE, round);
    }
    for (int i = 0; i < 2; i++) {
        assert_ok(gr_egl_make_current(contexts[i]));
        gr_resource_free(resources[i]);
    }
}

GROUP("ends", add_shared_case)

/* The resource retains the primary context itself. */
WAY_TEST(without_a_cuda_context_the_primary_one_is_used, WAYS)
{
    CU(CtxSetCurrent(NULL));
    gr_resource *resource = must_make(gr_create_gl_buffer(SIZE, GR_READ_WRITE, &by_sharing));
    gr_buffer *buffer = must_make(gr_map(resource, CU_STREAM_LEGACY));
    assert_ok(gr_buffer_release(buffer));
    gr_resource_free(resource);
    ck_assert_ptr_null(current_context());
    CU(CtxSetCurrent(fx.context));
}
