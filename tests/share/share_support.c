/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Sockets and rings for tests with both ends in this process, and frames that CUDA and Vulkan write
 * and read.
 */
#define _GNU_SOURCE
#include "share_ring.h"

#include <sys/socket.h>
#include <unistd.h>

struct pair pair_make(void)
{
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    return (struct pair){ends[0], ends[1]};
}

void pair_close(struct pair *pair)
{
    if (pair->here >= 0)
        close(pair->here);
    if (pair->there >= 0)
        close(pair->there);
}

/* ---- The ring of this process ---------------------------------------------------------------- */

struct shared_ring shared_ring_begin(size_t slots, gr_side producer, gr_ring_mode mode)
{
    struct shared_ring r = {.acquire = gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE),
                            .release = gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE)};
    gr_resource *resources[64];
    ck_assert_uint_le(slots, 64);
    assert_made(r.acquire);
    assert_made(r.release);
    for (size_t i = 0; i < slots; i++) {
        resources[i] = must_create(SLOT_SIZE, GR_READ_WRITE);
        assert_ok(gr_resource_set_sync(resources[i], r.acquire, r.release));
    }
    r.ring = must_make(gr_ring_create(
        resources, slots, &GR_INIT(gr_ring_options, .producer = producer, .mode = mode)));
    free_resources(resources, slots);
    r.host = vulkan_host(SLOT_SIZE);
    return r;
}

struct shared_ring shared_ring_sent(int socket, size_t slots, gr_side producer, gr_ring_mode mode,
                                    gr_ring_role role)
{
    struct shared_ring r = shared_ring_begin(slots, producer, mode);
    assert_ok(gr_ring_send(socket, r.ring, role, NULL, 0, SOON));
    return r;
}

void shared_ring_end(struct shared_ring *r)
{
    CU(StreamSynchronize(fx.stream));
    vulkan_finish();
    gr_ring_free(r->ring);
    gr_semaphore_free(r->acquire);
    gr_semaphore_free(r->release);
}

int value_of_frame(uint64_t frame)
{
    return (int)(frame % 251);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

gr_status cuda_writes(gr_ring *ring)
{
    const gr_slot *slot;
    gr_status status = gr_ring_acquire_write(ring, fx.stream, &slot, 1, SOON);
    if (status != GR_OK)
        return status;
    CU(MemsetD8Async(gr_buffer_ptr(slot->buffer), (unsigned char)value_of_frame(slot->frame),
                     SLOT_SIZE, fx.stream));
    return gr_ring_hand_over(ring, &slot, 1);
}

/* Returns the number of the frame, or 0 after an error. */
uint64_t cuda_reads(gr_ring *ring)
{
    static unsigned char bytes[SLOT_SIZE];
    const gr_slot *slot;
    if (gr_ring_acquire_read(ring, fx.stream, &slot, 1, SOON) != GR_OK)
        return 0;
    CU(MemcpyDtoHAsync(bytes, gr_buffer_ptr(slot->buffer), SLOT_SIZE, fx.stream));
    uint64_t frame = slot->frame;
    gr_status status = gr_ring_give_back(ring, &slot, 1);
    ck_assert_msg(status == GR_OK, "%s", error_text());
    CU(StreamSynchronize(fx.stream));
    assert_bytes(bytes, SLOT_SIZE, value_of_frame(frame));
    return frame;
}

gr_status vulkan_writes(gr_ring *ring)
{
    const gr_slot *slot;
    gr_status status = gr_ring_acquire_write(ring, GR_STREAM_NONE, &slot, 1, SOON);
    if (status != GR_OK)
        return status;
    VkCommandBuffer commands = vulkan_begin();
    vulkan_cmd_fill(commands, gr_vk_buffer(slot->resource), SLOT_SIZE, value_of_frame(slot->frame));
    vulkan_submit_slot(commands, slot, NULL);
    return gr_ring_hand_over(ring, &slot, 1);
}

uint64_t vulkan_reads(const struct shared_ring *r)
{
    const gr_slot *slot;
    if (gr_ring_acquire_read(r->ring, GR_STREAM_NONE, &slot, 1, SOON) != GR_OK)
        return 0;
    VkCommandBuffer commands = vulkan_begin();
    vulkan_cmd_read(commands, gr_vk_buffer(slot->resource), r->host);
    vulkan_submit_slot(commands, slot, NULL);
    uint64_t frame = slot->frame;
    assert_ok(gr_ring_give_back(r->ring, &slot, 1));
    vulkan_finish();
    assert_bytes(r->host->bytes, SLOT_SIZE, value_of_frame(frame));
    return frame;
}

/* ---- Both sides in this process -------------------------------------------------------------- */

struct shared_ring send_ring(const struct pair *pair, gr_side producer, gr_ring_mode mode)
{
    gr_ring_role role = producer == GR_SIDE_CUDA ? GR_RING_CONSUMER : GR_RING_PRODUCER;
    return shared_ring_sent(pair->here, SLOTS_OF_TWO, producer, mode, role);
}

struct two two_begin(gr_side producer, gr_ring_mode mode)
{
    struct pair pair = pair_make();
    struct two two = {.sent = send_ring(&pair, producer, mode)};
    two.received = must_make(gr_ring_receive(pair.there, NULL, 0, NULL, SOON));
    return two;
}

void two_end(struct two *two)
{
    CU(StreamSynchronize(fx.stream));
    gr_ring_free(two->received);
    shared_ring_end(&two->sent);
}

void vulkan_begins_read(const struct shared_ring *r, const gr_slot **slot,
                        const struct vulkan_gate *gate)
{
    assert_ok(gr_ring_acquire_read(r->ring, GR_STREAM_NONE, slot, 1, SOON));
    VkCommandBuffer commands = vulkan_begin();
    vulkan_cmd_read(commands, gr_vk_buffer((*slot)->resource), r->host);
    vulkan_submit_slot(commands, *slot, gate);
    assert_ok(gr_ring_give_back(r->ring, slot, 1));
}
