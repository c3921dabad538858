/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Order between OpenGL and CUDA on shared buffers, with each kind of wait that OpenGL supports. One
 * API is late, and the other must come after it although the host does not block.
 */
#include "gl_shared.h"

#include "tests/ring/ring.h"

#include <string.h>

#define SIZE    65536
#define LATE_MS 60
#define MANY    300 /* more resources than fit into one driver call */

static const char *missing(int way)
{
    const char *reason = kernels_load();
    return reason ? reason : way_missing(way);
}

#define ORDER_TEST(...) TEST_UNLESS(missing(_i), __VA_ARGS__)

GROUP("order", add_shared_case)

ORDER_TEST(the_best_kind_of_wait_is_used, WAYS)
{
    GR_AUTO(gr_resource) *resource = must_share(SIZE, GR_READ_WRITE);
    assert_described(resource, ways[_i].text);
}

/* ---- CUDA reads or writes late --------------------------------------------------------------- */

ORDER_TEST(opengl_reads_after_cuda_wrote, WAYS)
{
    GR_AUTO(gr_resource) *resource = must_share(SIZE, GR_READ_WRITE);
    GLuint name = gr_gl_name(resource);
    for (unsigned seed = 1; seed <= 3; seed++) {
        gr_buffer *buffer = must_map(resource);
        gate_open_after(gate_put(fx.stream), LATE_MS);
        kernel_fill_pattern(gr_buffer_ptr(buffer), SIZE, seed, fx.stream);
        assert_ok(gr_buffer_release(buffer));
        assert_gl_pattern(gl_copy_of(name, SIZE), SIZE, seed);
    }
}

ORDER_TEST(opengl_writes_after_cuda_read, WAYS)
{
    GR_AUTO(gr_resource) *resource = must_share(SIZE, GR_READ_ONLY);
    GLuint name = gr_gl_name(resource), next = gl_buffer_filled(SIZE, 0x99);
    CUdeviceptr out = 0;
    CU(MemAlloc(&out, SIZE));
    unsigned char bytes[SIZE];
    memset(bytes, 0x44, SIZE);
    gl_write(name, bytes, SIZE);
    gr_buffer *buffer = must_map(resource);
    gate_open_after(gate_put(fx.stream), LATE_MS);
    kernel_copy(out, gr_buffer_ptr(buffer), SIZE, fx.stream);
    assert_ok(gr_buffer_release(buffer));
    glCopyNamedBufferSubData(next, name, 0, 0, SIZE);
    glFinish();
    CU(MemcpyDtoH(bytes, out, SIZE));
    assert_bytes(bytes, SIZE, 0x44);
    CU(MemFree(out));
}

/* Catches: the map enqueued the wait for a signal that OpenGL had refused, and never ended. */
ORDER_TEST(refused_signals_and_waits_are_reported, WAYS - 1)
{
    GR_AUTO(gr_resource) *resource = must_share(SIZE, GR_READ_WRITE);
    for (unsigned seed = 1; seed <= 3; seed++) {
        if (!pretend_refused_use())
            skip("semaphores are not simulated");
        assert_null(gr_map(resource, fx.stream), GR_ERR_GL, GL_INVALID_ENUM,
                    "glSignalSemaphoreEXT");
        gr_buffer *buffer = must_map(resource);
        kernel_fill_pattern(gr_buffer_ptr(buffer), SIZE, seed, fx.stream);
        ck_assert(pretend_refused_use());
        assert_fails(gr_buffer_release(buffer), GR_ERR_PARTIAL, GL_INVALID_ENUM,
                     "glWaitSemaphoreEXT");
        assert_gl_clean();
        CU(StreamSynchronize(fx.stream));
        assert_gl_pattern(gl_copy_of(gr_gl_name(resource), SIZE), SIZE, seed);
        assert_ok(gr_buffer_release(must_map(resource)));
    }
}

/* ---- OpenGL reads or writes late ------------------------------------------------------------- */

ORDER_TEST(cuda_reads_after_opengl_wrote, WAYS)
{
    GR_AUTO(gr_resource) *resource = must_share(SIZE, GR_READ_WRITE);
    GLuint name = gr_gl_name(resource);
    unsigned char bytes[SIZE];
    for (int value = 1; value < 4; value++) {
        GLuint from = gl_buffer_filled(SIZE, value);
        gl_keep_busy();
        glCopyNamedBufferSubData(from, name, 0, 0, SIZE);
        gr_buffer *buffer = must_map(resource);
        cuda_read(bytes, gr_buffer_ptr(buffer), SIZE, fx.stream);
        assert_bytes(bytes, SIZE, value);
        fill_and_release(buffer, 0);
    }
}

ORDER_TEST(cuda_writes_after_opengl_read, WAYS)
{
    GR_AUTO(gr_resource) *resource = must_share(SIZE, GR_READ_WRITE);
    GLuint name = gr_gl_name(resource);
    fill_mapped(resource, 0x21);
    gl_keep_busy();
    GLuint copy = gl_copy_of(name, SIZE);
    fill_mapped(resource, 0x22);
    CU(StreamSynchronize(fx.stream));
    assert_gl_bytes(copy, SIZE, 0x21);
    assert_gl_bytes(name, SIZE, 0x22);
}

/* ---- Alternating uses ------------------------------------------------------------------------ */

/*
 * OpenGL and CUDA alternate, and CUDA adds 1 each time. If one of them is too early, an addition is
 * lost.
 */
ORDER_TEST(alternating_uses_lose_no_write, WAYS)
{
    const int turns = 200;
    GR_AUTO(gr_resource) *resource = must_share(SIZE, GR_READ_WRITE);
    GLuint name = gr_gl_name(resource), spare = gl_buffer_filled(SIZE, 0xEE);
    fill_mapped(resource, 0);
    for (int i = 0; i < turns; i++) {
        CUstream stream = i % 3 == 0 ? fx.other : fx.stream;
        gr_buffer *buffer = must_map_on(resource, stream);
        kernel_add_one(gr_buffer_ptr(buffer), SIZE, stream);
        assert_ok(i % 5 == 0 ? release_on(buffer, fx.other) : gr_buffer_release(buffer));
        glCopyNamedBufferSubData(name, spare, 0, 0, SIZE);
        glCopyNamedBufferSubData(spare, name, 0, 0, SIZE);
    }
    assert_gl_bytes(name, SIZE, turns);
}

/* No OpenGL work follows the first map. The second map is on another stream. */
ORDER_TEST(cuda_sees_its_own_writes_on_another_stream, WAYS)
{
    GR_AUTO(gr_resource) *resource = must_share(SIZE, GR_READ_WRITE);
    gr_buffer *buffer = must_map(resource);
    gate_open_after(gate_put(fx.stream), LATE_MS);
    fill_and_release(buffer, 1);
    buffer = must_map_on(resource, fx.other);
    kernel_add_one(gr_buffer_ptr(buffer), SIZE, fx.other);
    assert_ok(gr_buffer_release(buffer));
    assert_gl_bytes(gr_gl_name(resource), SIZE, 2);
}

ORDER_TEST(resources_can_be_released_one_by_one, WAYS)
{
    enum { COUNT = 4 };
    gr_resource *resources[COUNT];
    gr_buffer *buffers[COUNT];
    for (int i = 0; i < COUNT; i++)
        resources[i] = must_share(SIZE, GR_READ_WRITE);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < COUNT; i++) {
            buffers[i] = must_map(resources[i]);
            cuda_fill(buffers[i], 16 * round + i);
        }
        for (int i = COUNT; i-- > 0;)
            assert_ok(gr_buffer_release(buffers[i]));
        for (int i = 0; i < COUNT; i++)
            assert_gl_bytes(gl_copy_of(gr_gl_name(resources[i]), SIZE), SIZE, 16 * round + i);
    }
    free_resources(resources, COUNT);
}

/* ---- Batches --------------------------------------------------------------------------------- */

static void batch(size_t n)
{
    static gr_resource *resources[MANY];
    static gr_buffer *buffers[MANY];
    for (size_t i = 0; i < n; i++)
        resources[i] = must_share(64, GR_READ_WRITE);
    for (int round = 1; round < 4; round++) {
        assert_ok(gr_map_many(resources, n, fx.stream, NULL, buffers));
        gate_open_after(gate_put(fx.stream), LATE_MS);
        for (size_t i = 0; i < n; i++)
            cuda_fill(buffers[i], round + (int)i);
        assert_ok(gr_buffer_release_many(buffers, n, fx.stream, NULL));
        for (size_t i = 0; i < n; i++)
            assert_gl_bytes(gr_gl_name(resources[i]), 64, (round + (int)i) & 255);
    }
    free_resources(resources, n);
}

ORDER_TEST(map_many_is_ordered, WAYS)
{
    batch(32);
}

/*
 * gr_map_many() signals and waits once, and all objects are in the barriers of that signal and
 * wait.
 */
ORDER_TEST(map_many_uses_one_signal_and_one_wait, WAYS)
{
    if (!gr_cuda_is_software())
        skip("a GPU's driver does not say how often it was called");
    enum { COUNT = 10, ROUNDS = 5 };
    const gr_gl_image_desc info = GR_INIT(gr_gl_image_desc, GL_TEXTURE_2D, GL_RGBA8, 4, 4, 1, 1);
    int images = fx.device == 0 ? 2 : 0; /* images are shared on one device only */
    gr_resource *resources[COUNT];
    gr_buffer *buffers[COUNT];
    for (int i = 0; i < COUNT; i++) {
        resources[i] = i < images ? gr_create_gl_image(&info, GR_READ_WRITE, &by_sharing)
                                  : must_share(SIZE, GR_READ_WRITE);
        assert_made(resources[i]);
    }
    pretend_semaphores(true);
    for (int round = 0; round < ROUNDS; round++) {
        assert_ok(gr_map_many(resources, COUNT, fx.stream, NULL, buffers));
        assert_ok(gr_buffer_release_many(buffers, COUNT, fx.stream, NULL));
    }
    unsigned long each = _i == 0 ? ROUNDS : _i == 1 ? ROUNDS * COUNT : 0;
    ck_assert_uint_eq(pretend_counts.signals, each);
    ck_assert_uint_eq(pretend_counts.waits, each);
    ck_assert_uint_eq(pretend_counts.buffers, each ? 2 * ROUNDS * (COUNT - images) : 0);
    ck_assert_uint_eq(pretend_counts.textures, each ? 2 * ROUNDS * images : 0);
    free_resources(resources, COUNT);
}

ORDER_TEST(map_many_of_300_resources_is_ordered, WAYS)
{
    batch(MANY);
}

GROUP("rings", add_shared_case)

/* With binary semaphores each resource has its own pair, so a ring has one slot. */
static gr_ring *share_ring(size_t n)
{
    gr_resource *resources[16] = {NULL};
    for (size_t i = 0; i < n; i++)
        resources[i] = must_share(SIZE, GR_READ_WRITE);
    gr_ring *ring = must_make(gr_ring_create(resources, n, NULL));
    free_resources(resources, n);
    return ring;
}

/* After OpenGL has read slots, it signals once for all slots that one call gives back. */
ORDER_TEST(a_give_back_signals_once, WAYS)
{
    const gr_slot *slots[8];
    unsigned each = gr_cuda_is_software() && _i != 2, n = _i == 1 ? 1 : 8;
    GR_AUTO(gr_ring) *ring = share_ring(n);
    for (unsigned group = 1; group <= n; group++) {
        unsigned long signals = pretend_counts.signals, buffers = pretend_counts.buffers;
        for (unsigned i = 0; i < group; i++)
            slots[i] = ring_to_opengl(ring, (int)i, 0);
        assert_ok(gr_ring_give_back(ring, slots, group));
        ck_assert_uint_eq(pretend_counts.signals, signals + each);
        /* each object is in the barriers of its wait and of the signal */
        ck_assert_uint_eq(pretend_counts.buffers, buffers + 2 * each * group);
    }
}

/*
 * OpenGL reads several slots late. CUDA may overwrite them only after the signal that follows all
 * these reads.
 */
ORDER_TEST(cuda_overwrites_slots_after_opengl_has_read_them, WAYS)
{
    size_t n = _i == 1 ? 1 : 4;
    GLuint copies[16];
    const gr_slot *slot;
    GR_AUTO(gr_ring) *ring = share_ring(n);
    for (int i = 0; i < 16; i++) {
        slot = ring_to_opengl(ring, i, 0);
        if (i % 4 == 0)
            gl_keep_busy();
        copies[i] = gl_copy_of(gr_gl_name(slot->resource), SIZE);
        assert_ok(gr_ring_give_back(ring, &slot, 1));
    }
    for (int i = 0; i < 16; i++)
        assert_gl_bytes(copies[i], SIZE, i);
}

ORDER_TEST(slots_read_by_opengl_are_given_back_only_in_its_context, WAYS)
{
    gr_ring *ring = share_ring(_i == 1 ? 1 : 8);
    const gr_slot *slot = ring_to_opengl(ring, 5, 0);
    assert_ok(gr_egl_make_current(NULL));
    assert_fails(gr_ring_give_back(ring, &slot, 1), GR_ERR_GL, 0, "No OpenGL context is current");
    assert_ok(gr_egl_make_current(fx.egl));
    assert_gl_bytes(gr_gl_name(slot->resource), SIZE, 5);
    assert_ok(gr_ring_give_back(ring, &slot, 1));
    assert_fails(gr_ring_give_back(ring, &slot, 1), GR_ERR_STATE, 0, "is not being read");
    gr_ring_free(ring);
    gr_clear_error();
}
