/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Frees tensor, view, buffer and resource in every order. Also ends their context, their ring or
 * the process first.
 */
#define _POSIX_C_SOURCE 200809L
#include "mapping.h"

#include <stdlib.h>
#include <string.h>

enum { TENSOR, VIEW, BUFFER, RESOURCE, PARTIES };
enum { ORDERS = 24, RELEASES = 3 };

struct parties {
    struct thing *thing;
    gr_tensor *tensor, *view;
    gr_buffer *buffer;
};

/*
 * Ends the mapping. `release` selects gr_buffer_release() (0), gr_buffer_release_later() (1), or an
 * unmap before gr_buffer_release() unless the resource is already freed (2).
 */
static void let_buffer_go(struct parties *p, int release)
{
    if (release == 2 && p->thing->resource)
        assert_ok(gr_resource_unmap(p->thing->resource, GR_STREAM_OF_MAP));
    if (release == 1)
        elsewhere(release_elsewhere, p->buffer);
    else
        assert_ok(gr_buffer_release(p->buffer));
}

static void let_go(struct parties *p, int party, int release, bool away)
{
    if (party == BUFFER) {
        let_buffer_go(p, release);
        return;
    }
    void *object = party == TENSOR ? (void *)p->tensor
                   : party == VIEW ? (void *)p->view
                                   : (void *)p->thing->resource;
    void *(*body)(void *) = party == RESOURCE ? free_elsewhere : free_tensor;
    if (party == RESOURCE)
        p->thing->resource = NULL;
    if (away)
        elsewhere(body, object);
    else
        body(object);
}

/* Writes the permutation with that number into `order`. */
static void permute(int number, int order[PARTIES])
{
    int left[PARTIES] = {0, 1, 2, 3};
    for (int n = PARTIES; n > 0; n--) {
        int pick = number % n;
        number /= n;
        order[PARTIES - n] = left[pick];
        memmove(left + pick, left + pick + 1, (size_t)(n - pick - 1) * sizeof(*left));
    }
}

static void go_in_order(struct thing *thing, int number, int release, bool away)
{
    int order[PARTIES];
    struct parties p = {.thing = thing, .buffer = thing_map(thing)};
    void *handle = driver_handle(thing->resource);
    p.tensor = must_tensor(p.buffer);
    p.view = must_view(p.tensor);
    thing_cuda_write(thing, p.buffer, 9);
    CU(StreamSynchronize(fx.stream));
    permute(number, order);
    for (int i = 0; i < PARTIES; i++)
        let_go(&p, order[i], release, away);
    /* Objects whose free was deferred end in the next call in their context, and in the collect. */
    gr_resource_free(must_register(gl_buffer_filled(16, 0)));
    assert_ok(gr_tensor_collect(GR_WAIT_FOREVER));
    assert_unregistered(handle);
    if (!lost_by_free(thing->kind))
        assert_thing(thing, 9);
    thing_end(thing);
}

GROUP("every order", add_kinds_case)

SOME_KINDS_TEST(tensors_buffers_and_resources_end_in_any_order, RELEASES)
{
    gr_clear_error();
    for (int number = 0; number < ORDERS; number++)
        for (int away = 0; away < 2; away++)
            go_in_order(some_thing(_i), number, _i / SOME_KINDS, away);
    ck_assert_int_eq(gr_last_error()->status, GR_OK);
}

GROUP("ends", add_kinds_case)

TEST(tensors_outlive_the_opengl_context, 2)
{
    gr_egl *second = must_make(gr_egl_create(NULL));
    gr_resource *resource = must_register(gl_buffer_filled(SIZE, 1));
    gr_buffer *buffer = must_map(resource);
    gr_tensor *tensor = must_tensor(buffer);
    if (_i)
        gr_buffer_release_later(buffer);
    gr_egl_free(second);
    /* between two GPUs NVIDIA's driver keeps two descriptors of a mapping that ended so */
    if (fx.device > 0 && !gr_cuda_is_software())
        fx.fds = -1;
    assert_ok(gr_egl_make_current(fx.egl));
    gr_clear_error();
    gr_resource_free(resource);
    gr_tensor_free(tensor);
    ck_assert_int_eq(gr_last_error()->status, _i ? GR_ERR_PARTIAL : GR_OK); /* a lost frame */
    assert_ok(gr_tensor_collect(0));
}

TEST(tensors_outlive_the_cuda_context)
{
    CUstream stream;
    CUcontext second = new_context(&stream);
    GLuint name = gl_buffer_filled(SIZE, 1);
    gr_resource *resource = must_register(name);
    gr_buffer *buffer = must_make(gr_map(resource, stream));
    gr_tensor *tensor = must_tensor(buffer), *view = must_view(tensor);
    assert_ok(gr_tensor_used_on(view, stream));
    end_context(second);
    gr_clear_error();
    gr_tensor_free(tensor);
    gr_tensor_free(view);
    ck_assert_int_eq(gr_last_error()->status, GR_OK);
    gr_buffer_release_later(buffer);
    gr_resource_free(resource);
    gr_clear_error();
    assert_ok(gr_tensor_collect(0));
}

/* The import's own stream is not that of the mapping. */
SOME_KINDS_TEST(the_release_waits_for_a_view_of_an_import, 1)
{
    const gr_tensor_desc whole =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = (const int64_t[]){SIZE});
    struct thing *thing = some_thing(_i);
    gr_buffer *buffer = thing_map(thing);
    gr_tensor *tensor = must_tensor(buffer), *source = pinned_pattern(12);
    void *export = must_make(gr_tensor_to_dlpack(tensor, GR_DLPACK_VERSIONED, fx.other));
    gr_tensor *import = must_make(gr_tensor_from_dlpack(export, GR_DLPACK_VERSIONED, fx.other));
    gr_tensor *view = must_make(gr_tensor_view(import, &whole));
    gr_tensor_free(import);
    gate_open_after(gate_put(fx.other), 60);
    assert_ok(gr_tensor_copy(view, source, fx.other));
    assert_ok(gr_buffer_release(buffer));
    CU(StreamSynchronize(fx.stream));
    assert_thing(thing, 12);
    gr_tensor_free(view);
    gr_tensor_free(tensor);
    gr_tensor_free(source);
}

/* ---- Rings ----------------------------------------------------------------------------------- */

TEST(the_end_of_a_slot_revokes_its_tensors, 3)
{
    gr_resource *resources[2] = {must_register(gl_buffer_filled(SIZE, 1)),
                                 must_register(gl_buffer_filled(SIZE, 1))};
    GLuint name = gr_gl_name(resources[0]);
    gr_ring *ring = must_make(gr_ring_create(resources, 2, NULL));
    const gr_slot *slot;
    gr_tensor *source = pinned_pattern(10);
    assert_ok(gr_ring_acquire_write(ring, fx.stream, &slot, 1, 0));
    ck_assert_ptr_eq(slot->resource, resources[0]);
    gr_buffer *buffer = slot->buffer;
    gr_tensor *tensor = must_tensor(buffer);
    assert_ok(gr_tensor_copy(tensor, source, fx.other));
    if (_i == 0)
        assert_ok(gr_ring_hand_over(ring, &slot, 1));
    else if (_i == 1)
        assert_ok(gr_ring_cancel_write(ring, &slot, 1));
    else
        gr_ring_free(ring);
    assert_revoked(tensor);
    if (_i == 2)
        assert_ok(gr_buffer_release(buffer));
    CU(CtxSynchronize());
    assert_gl_pattern(name, SIZE, 10);
    gr_tensor_free(tensor);
    if (_i < 2)
        gr_ring_free(ring);
    gr_tensor_free(source);
    free_resources(resources, 2);
}

/* ---- The end of the process ------------------------------------------------------------------ */

static gr_tensor *left_over[3];

/* Registered with atexit() before all other exit functions, so that it runs last. */
static void free_at_exit(void)
{
    for (int i = 0; i < 3; i++)
        gr_tensor_free(left_over[i]);
}

CHILD(ends_with_mappings)
{
    atexit(free_at_exit);
    fixture_setup();
    gr_resource *resource = must_register(gl_buffer_filled(SIZE, 1));
    gr_buffer *buffer = must_map(resource);
    left_over[0] = must_tensor(buffer);
    left_over[1] = must_view(left_over[0]);
    assert_ok(gr_tensor_used_on(left_over[0], fx.other));
    gr_buffer_release_later(buffer);
    gr_buffer *other = must_map(must_register(gl_buffer_filled(SIZE, 1)));
    left_over[2] = must_tensor(other);
    assert_ok(gr_buffer_release(other));
    return 0;
}

TEST(a_process_with_mappings_exits_cleanly)
{
    char text[16384];
    int status = child_run("ends_with_mappings", text, sizeof(text));
    ck_assert_msg(status == 0, "%d: %s", status, text);
}

GROUP("threads", add_kinds_case)

enum { ROUNDS = 150, HANDED = 4 };

static gr_tensor *handed[HANDED]; /* accessed atomically */
static bool over;                 /* accessed atomically */

static void *view_what_is_handed(void *unused)
{
    const gr_tensor_desc one =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = (const int64_t[]){1});
    (void)unused;
    gr_tensor *tensor = NULL, *views[HANDED];
    while (!(tensor = __atomic_load_n(&handed[0], __ATOMIC_ACQUIRE)))
        continue;
    for (int i = 0; i < HANDED; i++)
        views[i] = gr_tensor_view(tensor, &one);
    __atomic_store_n(&handed[0], NULL, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE))
        continue;
    for (int i = 0; i < HANDED; i++) {
        ck_assert(!views[i] || gr_tensor_get_info(views[i])->revoked);
        ck_assert(!views[i] || !gr_tensor_get_info(views[i])->ptr);
        gr_tensor_free(views[i]);
    }
    return NULL;
}

/* Catches: a view that was created while the mapping ended stayed usable, or a crash. */
SOME_KINDS_TEST(one_thread_creates_views_while_another_releases_the_mapping, 1)
{
    struct thing *thing = some_thing(_i);
    for (int round = 0; round < ROUNDS / 3; round++) {
        pthread_t thread;
        gr_buffer *buffer = thing_map(thing);
        GR_AUTO(gr_tensor) *tensor = must_tensor(buffer);
        __atomic_store_n(&over, false, __ATOMIC_RELEASE);
        ck_assert_int_eq(pthread_create(&thread, NULL, view_what_is_handed, NULL), 0);
        __atomic_store_n(&handed[0], tensor, __ATOMIC_RELEASE);
        assert_ok(gr_buffer_release(buffer));
        while (__atomic_load_n(&handed[0], __ATOMIC_ACQUIRE))
            continue;
        __atomic_store_n(&over, true, __ATOMIC_RELEASE);
        pthread_join(thread, NULL);
    }
}

static void *free_what_is_handed(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE))
        for (int i = 0; i < HANDED; i++)
            gr_tensor_free(__atomic_exchange_n(&handed[i], NULL, __ATOMIC_ACQ_REL));
    return NULL;
}

/*
 * A thread frees tensors, like a garbage collector, while the main thread releases their mapping.
 */
SOME_KINDS_TEST(one_thread_frees_tensors_while_another_releases_the_mapping, 1)
{
    pthread_t thread;
    struct thing *thing = some_thing(_i);
    __atomic_store_n(&over, false, __ATOMIC_RELEASE);
    ck_assert_int_eq(pthread_create(&thread, NULL, free_what_is_handed, NULL), 0);
    for (int round = 0; round < ROUNDS; round++) {
        gr_buffer *buffer = thing_map(thing);
        for (int i = 0; i < HANDED; i++) {
            gr_tensor *tensor = must_tensor(buffer);
            assert_ok(gr_tensor_used_on(tensor, i % 2 ? fx.stream : fx.other));
            gr_tensor_free(__atomic_exchange_n(&handed[i], tensor, __ATOMIC_ACQ_REL));
        }
        if (round % 3)
            assert_ok(gr_buffer_release(buffer));
        else
            gr_buffer_release_later(buffer);
        const uint64_t begin = monotonic_ns();
        while (round % 3 == 0 && gr_resource_get_info(thing->resource)->mapped) {
            ck_assert_msg(monotonic_ns() - begin < 20000000000, "the release is deferred for ever");
            gr_buffer *next = gr_map(thing->resource, fx.stream);
            if (next)
                assert_ok(gr_buffer_release(next));
        }
    }
    __atomic_store_n(&over, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    for (int i = 0; i < HANDED; i++) {
        gr_tensor_free(handed[i]);
        handed[i] = NULL;
    }
    gr_clear_error();
    thing_fill(thing, 11);
    assert_thing(thing, 11);
}
