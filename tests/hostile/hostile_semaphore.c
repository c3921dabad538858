/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A peer that resets the semaphores of a shared ring to smaller values. */
#include "hostile.h"

#include <string.h>
#include <unistd.h>

/* Longer than any wait that grinterop ends by itself. */
#define ENOUGH_MS 10000

/* Whether the semaphore is below the value, so that a wait for the value does not end at once. */
static bool lacks(const struct hostile_semaphore *semaphore, uint64_t value)
{
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS params = {.params.fence.value = value};
    CUstream stream;
    if (semaphore->value)
        return atomic_load(semaphore->value) < value;
    CU(StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CU(WaitExternalSemaphoresAsync(&semaphore->imported, &params, 1, stream));
    bool passes = stream_ends_within(stream, 500);
    CU(StreamDestroy(stream));
    return !passes;
}

/*
 * Resets a semaphore from the value `from`. Returns false if the semaphores of this driver cannot
 * be reset to smaller values.
 */
static bool goes_back(const struct hostile_semaphore *semaphore, uint64_t from, uint64_t to)
{
    ck_assert(!lacks(semaphore, from));
    hostile_set(semaphore, to);
    return lacks(semaphore, from);
}

/*
 * The stream must become idle. Ends an endless wait before the case fails, so that the wait does
 * not delay other cases.
 */
static void must_end(CUstream stream, const struct hostile_semaphore *semaphore, uint64_t value)
{
    if (stream_ends_within(stream, ENOUGH_MS))
        return;
    hostile_set(semaphore, value);
    stream_ends_within(stream, ENOUGH_MS);
    ck_abort_msg("the stream waited forever");
}

GROUP("semaphores that go back", add_vulkan_case)

/*
 * fx.stream has signalled value 2. fx.other waits for that value before it signals the next one.
 * The peer resets the semaphore to 1. In the first run, grinterop has already observed value 2. In
 * the second run it has not, and the ring signals value 2 again when it ends.
 *
 * Catches: the stream waited forever, even after the end of the peer.
 */
VULKAN_TEST(a_reset_of_our_semaphore_blocks_no_stream_forever, 2)
{
    struct hostile peer;
    const gr_slot *slot;
    struct shared_ring r = hostile_ring(&peer, true, GR_RING_LOSSLESS);
    assert_ok(cuda_writes(r.ring));
    assert_ok(cuda_writes(r.ring));
    CU(StreamSynchronize(fx.stream));
    if (_i == 0)
        sleep_ms(1500);
    goes_back(&peer.sent, 2, 1);
    gr_status status = gr_ring_acquire_write(r.ring, fx.other, &slot, 1, SOON);
    if (status == GR_OK)
        assert_ok(gr_ring_hand_over(r.ring, &slot, 1));
    else /* the reset was already detected */
        ck_assert_int_eq(status, GR_ERR_SYSTEM);
    if (_i == 1)
        shared_ring_end(&r);
    must_end(fx.other, &peer.sent, 2);
    hostile_end(&peer); /* waits for the streams that wait for the peer's semaphores */
    if (_i == 0)
        shared_ring_end(&r);
}

/* Reads frames until the ring fails, or for `ms`. */
static gr_status read_until_over(gr_ring *ring, int ms)
{
    int64_t end = clock_ms() + ms;
    gr_status status;
    do {
        const gr_slot *slot;
        status = gr_ring_acquire_read(ring, fx.stream, &slot, 1, 20);
        if (status == GR_OK)
            assert_ok(gr_ring_give_back(ring, &slot, 1));
    } while ((status == GR_OK || status == GR_ERR_TIMEOUT) && clock_ms() < end);
    return status;
}

/*
 * The second frame depends on the same value as the first. That value had been reached before the
 * reset.
 *
 * Catches: the stream waited forever without an error.
 */
VULKAN_TEST(a_peer_that_resets_its_semaphore_is_detected)
{
    struct hostile peer;
    struct shared_ring r = hostile_ring(&peer, false, GR_RING_LOSSLESS);
    hostile_set(&peer.received, 2);
    hostile_publish(&peer, 0, 1, 2);
    /* grinterop observes value 2. */
    ck_assert_int_eq(read_until_over(r.ring, 1500), GR_ERR_TIMEOUT);
    CU(StreamSynchronize(fx.stream));
    bool back = goes_back(&peer.received, 2, 1);
    hostile_publish(&peer, 1, 2, 2);
    if (back) {
        gr_status status = read_until_over(r.ring, ENOUGH_MS);
        if (status != GR_ERR_SYSTEM)
            hostile_set(&peer.received, 2);
        ck_assert_int_eq(status, GR_ERR_SYSTEM);
        assert_error(GR_ERR_SYSTEM, 0, "producer, has set a semaphore back");
    }
    must_end(fx.stream, &peer.received, 2);
    hostile_end(&peer);
    shared_ring_end(&r);
    if (!back)
        skip("timelines of this driver cannot go back");
}

/*
 * The peer has closed its socket, but its semaphore is still open elsewhere and is reset.
 *
 * Catches: a value that grinterop had signalled for the peer was not signalled again.
 */
VULKAN_TEST(a_reset_after_the_peer_closed_its_socket_is_repaired)
{
    struct hostile peer;
    const gr_slot *slot;
    struct shared_ring r = hostile_ring(&peer, false, GR_RING_LOSSLESS);
    hostile_set(&peer.received, 2);
    hostile_publish(&peer, 0, 1, 2);
    hostile_publish(&peer, 1, 2, 2);
    assert_ok(gr_ring_acquire_read(r.ring, fx.stream, &slot, 1, SOON));
    CU(StreamSynchronize(fx.stream));
    assert_ok(gr_ring_give_back(r.ring, &slot, 1));
    close(peer.socket);
    peer.socket = -1;
    /* Meanwhile grinterop notices the end of the peer and checks the awaited values. */
    sleep_ms(400);
    goes_back(&peer.received, 2, 1);
    assert_ok(gr_ring_acquire_read(r.ring, fx.stream, &slot, 1, SOON));
    assert_ok(gr_ring_give_back(r.ring, &slot, 1));
    must_end(fx.stream, &peer.received, 2);
    hostile_end(&peer);
    shared_ring_end(&r);
}

/* A slow peer that eventually signals must not count as one that resets its semaphore. */
VULKAN_TEST(a_slow_peer_is_not_an_error)
{
    struct hostile peer;
    struct shared_ring r = hostile_ring(&peer, false, GR_RING_LOSSLESS);
    hostile_publish(&peer, 0, 1, 1);
    ck_assert_int_eq(read_until_over(r.ring, 2500), GR_ERR_TIMEOUT);
    CU_GIVES(CUDA_ERROR_NOT_READY, StreamQuery(fx.stream));
    hostile_set(&peer.received, 1);
    ck_assert(stream_ends_within(fx.stream, ENOUGH_MS));
    hostile_end(&peer);
    shared_ring_end(&r);
}

/* ---- Values in the page ---------------------------------------------------------------------- */

/*
 * The peer hands a slot on with a value that its semaphore cannot reach by counting. In the second
 * run the ring ends before this process uses that slot.
 *
 * Catches: this process waited for that value and signalled it in the peer's place, and its own
 * next signal of the semaphore was 0.
 */
VULKAN_TEST(an_impossible_value_is_neither_awaited_nor_signalled, 2)
{
    static const uint64_t values[] = {UINT64_MAX, UINT64_MAX / 2, UINT64_C(1) << 32};
    for (unsigned i = 0; i < 2 * sizeof(values) / sizeof(*values); i++) {
        struct hostile peer;
        char text[200];
        bool here_writes = i % 2;
        struct shared_ring r = hostile_ring(&peer, here_writes, GR_RING_LOSSLESS);
        for (int n = 0; here_writes && n < HOSTILE_SLOTS; n++)
            assert_ok(cuda_writes(r.ring));
        (here_writes ? hostile_give_back : hostile_publish)(&peer, 0, 1, values[i / 2]);
        if (_i == 0) {
            gr_status status = here_writes ? cuda_writes(r.ring) : read_until_over(r.ring, 0);
            if (status != GR_ERR_SYSTEM)
                hostile_set(&peer.received, values[i / 2]);
            ck_assert_int_eq(status, GR_ERR_SYSTEM);
            assert_error(GR_ERR_SYSTEM, 0, "has overwritten the page");
        }
        gr_ring_free(r.ring);
        r.ring = NULL;
        gr_semaphore_describe(r.acquire, text, sizeof(text));
        ck_assert_msg(strstr(text, "last value 0"), "%s", text);
        must_end(fx.stream, &peer.received, values[i / 2]);
        hostile_end(&peer);
        shared_ring_end(&r);
    }
}

/* ---- After the end of the ring --------------------------------------------------------------- */

static void pass_gate(void *user)
{
    const atomic_bool *opens = user;
    for (int i = 0; i < 3 * ENOUGH_MS && !atomic_load(opens); i++)
        sleep_ms(1);
}

/*
 * The peer returns a slot with a value that its semaphore has reached, and resets the semaphore
 * after the ring is freed. The stream reaches its wait only after that.
 *
 * Catches: the stream waited forever, and freeing any other resource did too.
 */
VULKAN_TEST(a_reset_after_the_ring_was_freed_is_repaired, 2)
{
    struct hostile peer;
    const gr_slot *slot;
    atomic_bool opens = false;
    struct shared_ring r = hostile_ring(&peer, true, GR_RING_LOSSLESS);
    for (int i = 0; i < HOSTILE_SLOTS; i++)
        assert_ok(cuda_writes(r.ring));
    CU(StreamSynchronize(fx.stream));
    hostile_set(&peer.received, 1);
    hostile_give_back(&peer, 0, 1, 1);
    CU(LaunchHostFunc(fx.stream, pass_gate, &opens));
    assert_ok(gr_ring_acquire_write(r.ring, fx.stream, &slot, 1, SOON));
    gr_buffer *out = _i == 0 ? slot->buffer : NULL;
    if (!out)
        assert_ok(gr_ring_cancel_write(r.ring, &slot, 1));
    gr_ring_free(r.ring);
    if (out)
        assert_ok(gr_buffer_release(out));
    r.ring = NULL;
    hostile_set(&peer.received, 0);
    atomic_store(&opens, true);
    must_end(fx.stream, &peer.received, 1);
    gr_resource_free(must_create(SLOT_SIZE, GR_READ_WRITE));
    hostile_end(&peer);
    shared_ring_end(&r);
}

/* Begins a use of slot 0 whose work waits for the gate. */
static const gr_slot *write_behind_gate(gr_ring *ring, atomic_bool *opens)
{
    const gr_slot *slot;
    assert_ok(gr_ring_acquire_write(ring, fx.stream, &slot, 1, SOON));
    CU(LaunchHostFunc(fx.stream, pass_gate, opens));
    CU(MemsetD8Async(gr_buffer_ptr(slot->buffer), 1, SLOT_SIZE, fx.stream));
    return slot;
}

/*
 * Work on one stream has not begun to write slot 0 when the peer signals in its place. Then slot 0
 * is 0: given back too early, and used on another stream, 1: also mapped when the ring ends,
 * 2: cancelled, and used on another stream, 3: still mapped.
 *
 * Catches: the ring freed the memory of the slot under that work.
 */
TEST(memory_outlives_work_whose_signal_the_peer_has_made, 4)
{
    struct hostile peer;
    const gr_slot *slots[HOSTILE_SLOTS];
    atomic_bool opens = false;
    gr_ring *ring = hostile_opengl_ring(&peer, GR_SIDE_CUDA, GR_RING_PRODUCER);
    if (!ring)
        skip("%s", error_text());
    const gr_slot *slot = write_behind_gate(ring, &opens);
    hostile_set(&peer.sent, 10);
    hostile_set(&peer.received, 1);
    if (_i < 2) {
        assert_ok(gr_ring_hand_over(ring, &slot, 1));
        hostile_give_back(&peer, 0, 1, 1);
    } else if (_i == 2) {
        assert_ok(gr_ring_cancel_write(ring, &slot, 1));
    }
    if (_i < 3)
        assert_ok(gr_ring_acquire_write(ring, fx.other, slots, HOSTILE_SLOTS, SOON));
    if (_i == 0 || _i == 2)
        assert_ok(gr_ring_cancel_write(ring, slots, HOSTILE_SLOTS));
    ck_assert(stream_ends_within(fx.other, ENOUGH_MS));
    gr_ring_free(ring);
    atomic_store(&opens, true);
    ck_assert(stream_ends_within(fx.stream, ENOUGH_MS));
    ck_assert(stream_ends_within(fx.other, ENOUGH_MS));
    gr_resource_free(gr_create_gl_buffer(SLOT_SIZE, GR_READ_WRITE, &by_sharing));
    hostile_end(&peer);
}
