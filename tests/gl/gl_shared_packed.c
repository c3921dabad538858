/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared buffers in memory blocks: each buffer has its own bytes, a range is reused only when both
 * APIs have finished with it, and no such buffer can be sent to another process.
 */
#define _GNU_SOURCE
#include "gl_parts_pretend.h"
#include "gl_shared.h"
#include "tests/ring/ring.h"

#include <grinterop/share.h>

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/external/ranges.c"

enum { MIB = 1 << 20, BLOCK = 2 * MIB };

static const gr_gl_options packed = {
    .struct_size = sizeof(gr_gl_options), .transports = GR_TRANSPORT_SHARED, .packed = true};

/* These are not multiples of the buffer alignment: see gl_parts_pretend.h. */
static const size_t sizes[] = {1000, 65000, 1, 4000, 500, 300000, 130};
enum { SIZES = sizeof(sizes) / sizeof(*sizes), COUNT = 6 * SIZES };

static gr_resource *must_pack(size_t size)
{
    return must_make(gr_create_gl_buffer(size, GR_READ_WRITE, &packed));
}

static void begin_offsets(void)
{
    pretend_offsets(true);
}

static void end_offsets(void)
{
    pretend_offsets(false);
}

static CUdeviceptr address_of(gr_resource *resource)
{
    gr_buffer *buffer = must_map(resource);
    CUdeviceptr ptr = gr_buffer_ptr(buffer);
    assert_ok(gr_buffer_release(buffer));
    CU(StreamSynchronize(fx.stream));
    return ptr;
}

/* The memory is on the device that draws, even if CUDA computes on another one. */
static CUcontext drawing;

static size_t free_memory(void)
{
    size_t left = 0, total = 0;
    glFinish();
    CU(CtxPushCurrent(drawing));
    CU(MemGetInfo(&left, &total));
    CU(CtxPopCurrent(&drawing));
    return left;
}

/*
 * Retains the primary context of the drawing device until the program ends: the driver allocates
 * memory for a context, and no case may count that memory.
 */
static void hold_drawing(void)
{
    CU(DevicePrimaryCtxRetain(&drawing, 0));
    (void)free_memory();
}

/*
 * Checks that the memory in use has grown by a number of bytes in this range. Not checked on a GPU,
 * where other processes also allocate; there bench_map measures it.
 */
static void assert_used(size_t before, size_t least, size_t most)
{
    if (!gr_cuda_is_software())
        return;
    long long used = (long long)before - (long long)free_memory();
    ck_assert_int_ge(used, (long long)least);
    ck_assert_int_le(used, (long long)most);
}

/*
 * Returns the number of the block that contains the buffer. Blocks start at multiples of the size
 * of the first block, so a larger block has several numbers.
 */
static CUdeviceptr block_of(gr_resource *resource)
{
    return address_of(resource) / BLOCK;
}

/*
 * Waits for both APIs. Then creates and frees a buffer of this size, because each creation makes
 * grinterop check whether both APIs have finished.
 */
static void settle(size_t size)
{
    for (int i = 0; i < 4; i++) {
        CU(CtxSynchronize());
        glFinish();
        gr_resource_free(must_pack(size));
        sleep_ms(3);
    }
}

static TCase *add_made_case(Suite *suite, const char *name)
{
    TCase *tcase = add_shared_case(suite, name);
    tcase_add_checked_fixture(tcase, begin_offsets, end_offsets);
    tcase_add_unchecked_fixture(tcase, hold_drawing, NULL);
    return tcase;
}

GROUP("packed", add_made_case)

/*
 * All bytes of a buffer get one value: in memory that is not dedicated, the NVIDIA driver shows
 * stale bytes after such writes (see gl/memory/buffer.c).
 */
SHARED_TEST(each_packed_buffer_has_its_own_bytes)
{
    gr_resource *resources[COUNT];
    for (int i = 0; i < COUNT; i++)
        resources[i] = must_pack(sizes[i % SIZES]);
    for (int round = 1; round <= 4; round++) {
        for (int i = 0; i < COUNT; i++)
            fill_mapped(resources[i], (i + 50 * round) & 255);
        for (int i = 0; i < COUNT; i++)
            assert_gl_bytes(gl_copy_of(gr_gl_name(resources[i]), sizes[i % SIZES]),
                            sizes[i % SIZES], (i + 50 * round) & 255);
        for (int i = 0; i < COUNT; i++) {
            const unsigned char value = (unsigned char)(i + 90 * round);
            glClearNamedBufferData(gr_gl_name(resources[i]), GL_R8UI, GL_RED_INTEGER,
                                   GL_UNSIGNED_BYTE, &value);
        }
        for (int i = 0; i < COUNT; i++) {
            gr_buffer *buffer = must_map(resources[i]);
            unsigned char *bytes = must_allocate(sizes[i % SIZES]);
            ck_assert_uint_eq(gr_buffer_size(buffer), sizes[i % SIZES]);
            cuda_read(bytes, gr_buffer_ptr(buffer), sizes[i % SIZES], fx.stream);
            assert_no_difference(
                bytes_differ_once(bytes, sizes[i % SIZES], (i + 90 * round) & 255));
            assert_ok(gr_buffer_release(buffer));
        }
    }
    free_resources(resources, COUNT);
}

SHARED_TEST(a_thousand_buffers_of_1_kib_use_one_block)
{
    enum { MANY = 1000 };
    static gr_resource *resources[MANY];
    static gr_buffer *buffers[MANY];
    resources[0] = must_pack(1000);
    size_t before = free_memory();
    for (int i = 1; i < MANY; i++)
        resources[i] = must_pack(1000);
    assert_used(before, 0, 0);
    assert_ok(gr_map_many(resources, MANY, fx.stream, NULL, buffers));
    for (int i = 0; i < MANY; i++) {
        ck_assert_uint_eq(gr_buffer_ptr(buffers[i]) % 512, 0);
        ck_assert_uint_eq(gr_buffer_ptr(buffers[i]) / BLOCK, gr_buffer_ptr(buffers[0]) / BLOCK);
        cuda_fill(buffers[i], i & 255);
    }
    assert_ok(gr_buffer_release_many(buffers, MANY, fx.stream, NULL));
    for (int i = 0; i < MANY; i += 37)
        assert_gl_bytes(gl_copy_of(gr_gl_name(resources[i]), 1000), 1000, i & 255);
    free_resources(resources, MANY);
}

SHARED_TEST(a_buffer_above_1_mib_has_its_own_memory)
{
    gr_resource *small = must_pack(MIB - 100), *large = must_pack(MIB + 1);
    size_t before = free_memory();
    gr_resource *others[2] = {must_pack(MIB + 1), must_pack(100)};
    assert_used(before, BLOCK, BLOCK);
    ck_assert_uint_eq(block_of(others[1]), block_of(small));
    ck_assert_uint_ne(block_of(large), block_of(small));
    ck_assert_uint_ne(block_of(others[0]), block_of(large));
    free_resources(others, 2);
    gr_resource_free(small);
    gr_resource_free(large);
}

SHARED_TEST(packed_buffers_can_be_slots_of_a_ring)
{
    enum { SLOTS = 50, SIZE = 1000 };
    gr_resource *resources[SLOTS];
    for (int i = 0; i < SLOTS; i++)
        resources[i] = must_pack(SIZE);
    GR_AUTO(gr_ring) *ring = must_make(gr_ring_create(resources, SLOTS, NULL));
    free_resources(resources, SLOTS);
    for (int frame = 0; frame < 3 * SLOTS; frame++) {
        const gr_slot *slot = ring_to_opengl(ring, frame & 255, 0);
        assert_gl_bytes(gl_copy_of(gr_gl_name(slot->resource), SIZE), SIZE, frame & 255);
        assert_ok(gr_ring_give_back(ring, &slot, 1));
    }
}

/* ---- Reuse ----------------------------------------------------------------------------------- */

SHARED_TEST(the_range_of_a_freed_buffer_is_reused)
{
    gr_resource *stays = must_pack(1000), *goes = must_pack(1000);
    CUdeviceptr place = address_of(goes);
    gr_resource_free(goes);
    settle(600000);
    /*
     * The buffer that settle() created also occupies a range until both APIs have finished with it.
     */
    CUdeviceptr seen = 0;
    for (int i = 0; i < 1000 && seen != place; i++) {
        gr_resource *next = must_pack(1000);
        seen = address_of(next);
        gr_resource_free(next);
        glFinish();
        sleep_ms(3);
    }
    ck_assert_uint_eq(seen, place);
    gr_resource_free(stays);
}

/*
 * A block of 2 MiB has space for two buffers of 3/4 MiB and a small one. The test uses a ring, so
 * that no call waits for the gate before the gate is opened.
 */
WAY_TEST(a_range_is_not_reused_while_cuda_uses_it)
{
    enum { LARGE = 3 * MIB / 4 - 100 };
    gr_resource *stays = must_pack(1000), *second = must_pack(LARGE), *goes = must_pack(LARGE);
    const gr_slot *slot;
    gr_ring *ring = must_make(gr_ring_create(&goes, 1, NULL));
    gr_resource_free(goes);
    assert_ok(gr_ring_acquire_write(ring, fx.stream, &slot, 1, 0));
    struct gate *gate = gate_put(fx.stream);
    if (!gr_cuda_is_software())
        gate_open_after(gate, 2000); /* a GPU driver may wait for the stream */
    cuda_fill(slot->buffer, 1);
    gr_status published = gr_ring_hand_over(ring, &slot, 1);
    gr_ring_free(ring);
    glFinish();
    size_t before = free_memory();
    gr_resource *others[6] = {must_pack(LARGE)};
    size_t meanwhile = free_memory();
    if (gr_cuda_is_software())
        gate_open(gate);
    ck_assert_int_eq(published, GR_OK);
    /* The first buffer needed a second block, which has space for 5 such buffers. */
    if (gr_cuda_is_software())
        ck_assert_int_eq((long long)before - (long long)meanwhile, 2 * BLOCK);
    ck_assert_uint_ne(block_of(others[0]), block_of(second));
    settle(100);
    for (int i = 1; i < 6; i++)
        others[i] = must_pack(LARGE);
    assert_used(before, 2 * BLOCK, 2 * BLOCK);
    free_resources(others, 6);
    gr_resource_free(second);
    gr_resource_free(stays);
}

SHARED_TEST(a_range_is_not_reused_while_opengl_uses_it)
{
    if (!pretend_late_fences(true))
        skip("a GPU is not late when it is asked to be");
    gr_resource *stays = must_pack(1000), *goes = must_pack(1000);
    CUdeviceptr place = address_of(goes);
    gr_resource_free(goes);
    gr_resource *others[3];
    for (int i = 0; i < 3; i++) {
        others[i] = must_pack(1000);
        ck_assert_uint_ne(address_of(others[i]), place);
    }
    pretend_late_fences(false);
    gr_resource *next = must_pack(1000);
    ck_assert_uint_eq(address_of(next), place);
    free_resources(others, 3);
    gr_resource_free(next);
    gr_resource_free(stays);
}

/* Catches: the range of a buffer that was deleted without a fence was never reused. */
SHARED_TEST(a_range_is_not_reused_without_a_fence)
{
    if (!pretend_no_fences(true))
        skip("a GPU makes fences");
    gr_resource *stays = must_pack(1000), *others[4], *again[2];
    CUdeviceptr places[2];
    for (int i = 0; i < 2; i++)
        others[i] = must_pack(1000);
    for (int i = 0; i < 2; i++) {
        places[i] = address_of(others[i]);
        gr_resource_free(others[i]);
        others[2 + i] = must_pack(1000);
        ck_assert_uint_ne(address_of(others[2 + i]), places[0]);
        ck_assert_uint_ne(address_of(others[2 + i]), places[i]);
    }
    pretend_no_fences(false);
    for (int i = 0; i < 2; i++) {
        again[i] = must_pack(1000);
        ck_assert_uint_eq(address_of(again[i]), places[i]);
    }
    for (int i = 0; i < 2; i++) {
        gr_resource_free(others[2 + i]);
        gr_resource_free(again[i]);
    }
    gr_resource_free(stays);
}

/* All empty blocks but one are freed. */
SHARED_TEST(empty_blocks_are_freed)
{
    enum { MANY = 100, SIZE = 256000 };
    static gr_resource *resources[MANY];
    gr_resource *stays = must_pack(SIZE);
    size_t before = free_memory();
    for (int i = 0; i < MANY; i++)
        resources[i] = must_pack(SIZE);
    assert_used(before, (size_t)MANY * SIZE - BLOCK, (size_t)MANY * SIZE + 16 * MIB);
    free_resources(resources, MANY);
    settle(100);
    assert_used(before, 0, 16 * MIB);
    gr_resource_free(stays);
    assert_used(before + BLOCK, 0, 0);
}

/* ---- The end --------------------------------------------------------------------------------- */

SHARED_TEST(packed_buffers_freed_without_opengl_are_deferred)
{
    size_t before = free_memory();
    gr_resource *resources[2] = {must_pack(1000), must_pack(1000)};
    for (int i = 0; i < 2; i++)
        fill_mapped(resources[i], i);
    CU(StreamSynchronize(fx.stream));
    for (int i = 0; i < 2; i++)
        elsewhere(free_elsewhere, resources[i]);
    /* Also frees the objects whose free was deferred. */
    gr_resource_free(must_register(gl_buffer_filled(16, 0)));
    assert_used(before, 0, 0);
}

SHARED_TEST(packed_buffers_can_be_freed_after_their_context)
{
    size_t before = free_memory();
    gr_egl *egl = must_make(gr_egl_create(NULL));
    gr_resource *resources[2] = {must_pack(1000), must_pack(1000)};
    fill_mapped(resources[0], 1);
    assert_ok(gr_egl_make_current(fx.egl));
    gr_resource_free(resources[0]);
    gr_egl_free(egl);
    gr_resource *here = must_pack(1000);
    fill_mapped(here, 7);
    gr_resource_free(resources[1]);
    assert_gl_bytes(gl_copy_of(gr_gl_name(here), 1000), 1000, 7);
    gr_resource_free(here);
    CU(StreamSynchronize(fx.stream));
    gr_resource_free(must_pack(100));
    assert_used(before, 0, 0);
}

/* ---- Other processes ------------------------------------------------------------------------- */

SHARED_TEST(a_packed_buffer_cannot_be_sent)
{
    int sockets[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    gr_resource *resource = must_pack(1000);
    assert_fails(gr_resource_send(sockets[0], resource, NULL, 0, 1000), GR_ERR_UNSUPPORTED, 0,
                 "without gr_gl_options.packed");
    gr_ring *ring = must_make(gr_ring_create(&resource, 1, NULL));
    assert_fails(gr_ring_send(sockets[0], ring, GR_RING_CONSUMER, NULL, 0, 1000),
                 GR_ERR_UNSUPPORTED, 0, "without gr_gl_options.packed");
    gr_ring_free(ring);
    fill_mapped(resource, 3);
    gr_resource_free(resource);
    close(sockets[0]);
    close(sockets[1]);
}

SHARED_TEST(a_buffer_that_is_not_packed_can_be_sent)
{
    int sockets[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    gr_resource *own = must_share(1000, GR_READ_WRITE), *beside = must_pack(1000);
    assert_ok(gr_resource_send(sockets[0], own, NULL, 0, 1000));
    gr_resource_free(own);
    gr_resource_free(beside);
    close(sockets[0]);
    close(sockets[1]);
}

GROUP("ranges", add_case)

TEST(ranges_in_use_do_not_overlap)
{
    enum { WHOLE = 4096, PIECES = 200, STEPS = 20000 };
    static struct gr_range taken[PIECES];
    static unsigned char used[WHOLE];
    struct gr_ranges ranges;
    unsigned seed = 1;
    size_t sum = 0, refused = 0;
    ck_assert(gr_ranges_init(&ranges, WHOLE));
    for (int step = 0; step < STEPS; step++) {
        seed = seed * 1664525 + 1013904223;
        struct gr_range *piece = &taken[(seed >> 8) % PIECES];
        size_t size = 1 + (seed >> 16) % 100;
        if (piece->size) {
            gr_ranges_give(&ranges, piece->offset, piece->size);
            memset(used + piece->offset, 0, piece->size);
            sum -= piece->size;
            piece->size = 0;
        } else if (gr_ranges_take(&ranges, size, &piece->offset)) {
            piece->size = size;
            ck_assert_uint_le(piece->offset + size, WHOLE);
            ck_assert_ptr_null(memchr(used + piece->offset, 1, size));
            memset(used + piece->offset, 1, size);
            sum += size;
        } else {
            refused++;
        }
        size_t left = 0;
        for (size_t i = 0; i < ranges.count; i++) {
            ck_assert(i == 0 ||
                      ranges.free[i].offset > ranges.free[i - 1].offset + ranges.free[i - 1].size);
            left += ranges.free[i].size;
        }
        ck_assert_uint_eq(left, WHOLE - sum);
    }
    ck_assert_uint_gt(refused, 0);
    for (int i = 0; i < PIECES; i++)
        if (taken[i].size)
            gr_ranges_give(&ranges, taken[i].offset, taken[i].size);
    memset(taken, 0, sizeof(taken));
    ck_assert_uint_eq(ranges.count, 1);
    ck_assert_uint_eq(ranges.free[0].size, WHOLE);
    ck_assert_uint_eq(ranges.taken, 0);
    gr_ranges_end(&ranges);
}
