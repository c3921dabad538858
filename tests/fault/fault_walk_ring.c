/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Scenarios of test_fault_walk with rings, within one process and between the two ends of a socket.
 */
#include "fault_walk.h"
#include "tests/ring/ring_tensor.h"
#include "tests/support/support_vulkan.h"

#include <sys/socket.h>
#include <unistd.h>

#include <grinterop/share.h>

#define SIZE  64
#define SLOTS 2

/* ---- OpenGL buffers -------------------------------------------------------------------------- */

struct slots {
    gr_resource *of[SLOTS];
};

static bool make_slots(struct slots *slots, const gr_gl_options *options)
{
    bool good = true;
    for (int i = 0; i < SLOTS; i++) {
        slots->of[i] = gr_create_gl_buffer(SIZE, GR_READ_WRITE, options);
        good = done(slots->of[i]) && good;
    }
    return good;
}

static void end_slots(struct slots *slots)
{
    free_resources(slots->of, SLOTS);
}

typedef gr_status (*hand_over)(gr_ring *ring, const gr_slot *const slots[], size_t n);

/* If the hand-over fails, the slot stays with its user, who tries again. */
static bool give(gr_ring *ring, hand_over how, const gr_slot *slot)
{
    return ok(how(ring, &slot, 1)) || (how(ring, &slot, 1), false);
}

static bool write_as(gr_ring *ring, CUstream stream, hand_over how)
{
    const gr_slot *slot = NULL;
    return ok(gr_ring_acquire_write(ring, stream, &slot, 1, WALK_SOON)) && give(ring, how, slot);
}

static bool read_as(gr_ring *ring, CUstream stream, hand_over how)
{
    const gr_slot *slot = NULL;
    return ok(gr_ring_acquire_read(ring, stream, &slot, 1, WALK_SOON)) && give(ring, how, slot);
}

bool walk_write(gr_ring *ring, CUstream stream)
{
    return write_as(ring, stream, gr_ring_hand_over);
}

bool walk_read(gr_ring *ring, CUstream stream)
{
    return read_as(ring, stream, gr_ring_give_back);
}

static bool take_and_cancel(gr_ring *ring)
{
    return write_as(ring, fx.stream, gr_ring_cancel_write) && walk_write(ring, fx.stream) &&
           read_as(ring, GR_STREAM_NONE, gr_ring_cancel_read) && walk_read(ring, GR_STREAM_NONE);
}

static bool resize(gr_ring *ring, const gr_gl_options *options)
{
    struct slots others;
    bool good = make_slots(&others, options) && ok(gr_ring_resize(ring, others.of, SLOTS));
    end_slots(&others);
    return good;
}

static bool use_ring(gr_ring *ring, const gr_gl_options *options)
{
    return done(gr_ring_descriptor(ring, GR_RING_CONSUMER) >= 0) && walk_write(ring, fx.stream) &&
           walk_read(ring, GR_STREAM_NONE) && walk_write(ring, fx.stream) &&
           walk_read(ring, GR_STREAM_NONE) && take_and_cancel(ring) && resize(ring, options) &&
           walk_write(ring, fx.stream) && walk_read(ring, GR_STREAM_NONE) &&
           done(gr_ring_get_info(ring));
}

static bool run_ring(void)
{
    struct slots slots;
    GR_AUTO(gr_ring) *ring =
        make_slots(&slots, scenario->options) ? gr_ring_create(slots.of, SLOTS, NULL) : NULL;
    end_slots(&slots);
    return done(ring) && use_ring(ring, scenario->options);
}

/* OpenGL writes the frames, and CUDA reads them. */
static bool run_ring_back(void)
{
    struct slots slots;
    GR_AUTO(gr_ring) *ring =
        make_slots(&slots, &by_interop)
            ? gr_ring_create(
                  slots.of, SLOTS,
                  &GR_INIT(gr_ring_options, .producer = GR_SIDE_GRAPHICS, .mode = GR_RING_NEWEST))
            : NULL;
    end_slots(&slots);
    bool good = done(ring) && walk_write(ring, GR_STREAM_NONE) &&
                walk_write(ring, GR_STREAM_NONE) && walk_read(ring, fx.stream);
    if (ring)
        gr_ring_stop(ring);
    return good;
}

static bool run_ring_tensor(void)
{
    static const int64_t shape[1] = {SIZE};
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = shape);
    struct slots slots;
    gr_ring *ring = make_slots(&slots, &by_interop) ? gr_ring_create(slots.of, SLOTS, NULL) : NULL;
    end_slots(&slots);
    GR_AUTO(gr_tensor) *tensor = gr_tensor_create(&desc, fx.stream);
    bool good = done(tensor) && done(ring) &&
                ok(ring_publish(ring, tensor, fx.stream, WALK_SOON)) &&
                walk_read(ring, GR_STREAM_NONE);
    gr_ring_free(ring);
    return good;
}

const struct scenario walk_rings[] = {
    {"a ring by interop", .run = run_ring, .options = &by_interop},
    {"a ring by copies", .run = run_ring, .options = &by_copy},
    {"a shared ring", .run = run_ring, .missing = walk_no_sharing, .options = &by_sharing},
    {"a ring of OpenGL frames", .run = run_ring_back},
    {"a ring of tensors", .run = run_ring_tensor},
    {.name = NULL},
};

/* ---- Rings between two ends of a socket ------------------------------------------------------ */

static gr_resource *make_vulkan(void)
{
    const VkBufferCreateInfo info = vulkan_buffer_info(SIZE);
    gr_resource *made = gr_create_vk_buffer(vk.wrap, &info, GR_READ_WRITE);
    done(made);
    return made;
}

static void close_both(const int ends[2])
{
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
}

static bool use_received(gr_resource *resource)
{
    if (!ok(gr_resource_set_sync(resource, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE)))
        return false;
    gr_buffer *buffer = gr_map(resource, fx.stream);
    return done(buffer) && walk_release(buffer);
}

static bool run_send(void)
{
    int ends[2];
    char data[4] = "abc";
    size_t size = 0;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    gr_resource *sent = make_vulkan(), *received = NULL;
    bool good = sent && ok(gr_resource_set_sync(sent, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE)) &&
                ok(gr_resource_send(ends[0], sent, data, sizeof(data), WALK_SOON));
    if (good)
        received = gr_resource_receive(ends[1], data, sizeof(data), &size, WALK_SOON);
    good = good && done(received) && use_received(received);
    gr_resource_free(received);
    gr_resource_free(sent);
    close_both(ends);
    return good;
}

gr_ring *walk_vulkan_ring(gr_semaphore *acquire, gr_semaphore *release,
                          const gr_ring_options *options)
{
    gr_resource *of[WALK_SLOTS] = {NULL};
    gr_ring *ring = NULL;
    bool good = done(acquire && release);
    for (int i = 0; i < WALK_SLOTS && good; i++) {
        of[i] = make_vulkan();
        good = of[i] && ok(gr_resource_set_sync(of[i], acquire, release));
    }
    if (good)
        ring = gr_ring_create(of, WALK_SLOTS, options);
    free_resources(of, WALK_SLOTS);
    done(ring);
    return ring;
}

static gr_ring *send_and_receive(gr_ring *ring, int ends[2])
{
    gr_ring *received = NULL;
    if (!ok(gr_ring_send(ends[0], ring, GR_RING_PRODUCER, NULL, 0, WALK_SOON)))
        return NULL;
    ends[0] = -1;
    received = gr_ring_receive(ends[1], NULL, 0, NULL, WALK_SOON);
    if (done(received))
        ends[1] = -1;
    return received;
}

static bool run_send_ring(void)
{
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    gr_semaphore *acquire = gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE),
                 *release = gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE);
    gr_ring *ring = walk_vulkan_ring(acquire, release, NULL);
    gr_ring *received = ring ? send_and_receive(ring, ends) : NULL;
    bool good = received && walk_write(ring, fx.stream) && walk_read(received, fx.other);
    CU(CtxSynchronize());
    gr_ring_free(received);
    gr_ring_free(ring);
    gr_semaphore_free(acquire);
    gr_semaphore_free(release);
    close_both(ends);
    return good;
}

const struct scenario walk_sharing[] = {
    {"a sent resource", .run = run_send},
    {"a sent ring", .run = run_send_ring},
    {.name = NULL},
};
