/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Order between Vulkan and CUDA. Each case runs with semaphores, without semaphores, and with the
 * default semaphores of new resources. With semaphores the bytes are right even if one API is late.
 * Without them, the other API reads or writes wrong bytes. vk_sync_use.c tests the use of
 * semaphores, vk_sync_misuse.c refusals.
 */
#define _GNU_SOURCE
#include "vk_sync_tests.h"

#include <string.h>
#include <unistd.h>

/* This delay is long enough to detect a missing wait. */
#define LATE_MS 60

/*
 * If a call waits for a gate that it must not wait for, the gate opens after this time, and the
 * case fails.
 */
#define TOO_LATE_MS 5000

#define WITH       0
#define WITHOUT    1
#define BY_DEFAULT 2 /* with the default pair of semaphores of the device */

struct pair make_pair(VkSemaphoreType type)
{
    struct pair pair = {.drawn = gr_semaphore_create_vk(vk.wrap, type),
                        .computed = gr_semaphore_create_vk(vk.wrap, type)};
    assert_made(pair.drawn);
    assert_made(pair.computed);
    return pair;
}

void free_pair(struct pair *pair)
{
    gr_semaphore_free(pair->drawn);
    gr_semaphore_free(pair->computed);
}

static gr_resource *make_filled(void)
{
    gr_resource *resource = must_create(SIZE, GR_READ_WRITE);
    vulkan_fill(gr_vk_buffer(resource), SIZE, 0);
    return resource;
}

gr_resource *make_resource(const struct pair *pair)
{
    gr_resource *resource = make_filled();
    if (!pair)
        return unordered(resource);
    assert_ok(gr_resource_set_sync(resource, pair->drawn, pair->computed));
    return resource;
}

gr_submit *begin_submit(gr_resource *resource)
{
    return vulkan_begin_submit(&resource, 1);
}

void fill_in(gr_submit *submit, gr_resource *resource, int value, const struct vulkan_gate *gate)
{
    VkCommandBuffer commands = vulkan_begin();
    vulkan_cmd_fill(commands, gr_vk_buffer(resource), SIZE, value);
    vulkan_submit_begun(commands, submit, gate);
}

/* ---- Work by Vulkan and by CUDA -------------------------------------------------------------- */

static struct pair pair;
static gr_resource *resource;
static CUdeviceptr copy;

static void begin_case(int without)
{
    if (without == WITH)
        pair = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    resource =
        without == BY_DEFAULT ? make_filled() : make_resource(without == WITH ? &pair : NULL);
    CU(MemAlloc(&copy, SIZE));
    CU(MemsetD8Async(copy, 0xEE, SIZE, fx.stream));
    CU(StreamSynchronize(fx.stream));
}

static void end_case(int without)
{
    vulkan_finish();
    CU(StreamSynchronize(fx.stream));
    gr_resource_free(resource);
    if (without == WITH)
        free_pair(&pair);
    CU(MemFree(copy));
}

/* Submits with the semaphores of the resource, if it has any. */
static void submit(VkCommandBuffer commands, int without, const struct vulkan_gate *gate)
{
    if (without != WITHOUT)
        vulkan_submit_begun(commands, begin_submit(resource), gate);
    else
        vulkan_submit(commands, NULL, gate);
}

static void vulkan_fills(int without, int value, const struct vulkan_gate *gate)
{
    VkCommandBuffer commands = vulkan_begin();
    vulkan_cmd_fill(commands, gr_vk_buffer(resource), SIZE, value);
    submit(commands, without, gate);
}

static struct vulkan_host *vulkan_reads(int without, const struct vulkan_gate *gate)
{
    struct vulkan_host *seen = vulkan_host(SIZE);
    VkCommandBuffer commands = vulkan_begin();
    vulkan_cmd_read(commands, gr_vk_buffer(resource), seen);
    submit(commands, without, gate);
    return seen;
}

/* Enqueues a CUDA copy of the resource between a map and a release. */
static void cuda_copies(void)
{
    gr_buffer *buffer = must_map(resource);
    CU(MemcpyDtoDAsync(copy, gr_buffer_ptr(buffer), SIZE, fx.stream));
    assert_ok(gr_buffer_release(buffer));
}

static void assert_copy(int value)
{
    static unsigned char bytes[SIZE];
    CU(StreamSynchronize(fx.stream));
    CU(MemcpyDtoH(bytes, copy, SIZE));
    assert_bytes(bytes, SIZE, value);
}

/*
 * Vulkan reads bytes that CUDA writes after the gate. Vulkan waits for CUDA only with semaphores.
 */
static void check_read(int without, struct gate *gate, int value)
{
    struct vulkan_host *seen = vulkan_reads(without, NULL);
    if (without != WITHOUT)
        gate_open_after(gate, LATE_MS);
    vulkan_finish();
    assert_bytes(seen->bytes, SIZE, without != WITHOUT ? value : 0);
    gate_open(gate);
}

/*
 * CUDA fills the buffer behind a gate, and Vulkan reads it. `release` is the stream of the release.
 */
static void check_filled(int without, CUstream release, int value)
{
    gr_buffer *buffer = must_map(resource);
    struct gate *gate = gate_put(fx.stream);
    cuda_fill(buffer, value);
    assert_ok(release_on(buffer, release));
    check_read(without, gate, value);
}

GROUP("order, with semaphores and without", add_vulkan_case, add_copied_vulkan_case)

VULKAN_TEST(cuda_reads_follow_vulkan_writes, 3)
{
    begin_case(_i);
    struct vulkan_gate *gate = vulkan_gate();
    vulkan_fills(_i, 0x11, gate);
    if (_i != WITHOUT)
        vulkan_gate_open_after(gate, LATE_MS);
    cuda_copies();
    assert_copy(_i != WITHOUT ? 0x11 : 0);
    vulkan_gate_open(gate);
    end_case(_i);
}

VULKAN_TEST(vulkan_reads_follow_cuda_writes, 3)
{
    begin_case(_i);
    check_filled(_i, GR_STREAM_OF_MAP, 0x22);
    end_case(_i);
}

VULKAN_TEST(vulkan_writes_follow_cuda_reads, 3)
{
    begin_case(_i);
    gr_buffer *buffer = must_map(resource);
    if (vk.copies && _i == WITHOUT) /* otherwise a later submit may overwrite the bytes to copy */
        CU(StreamSynchronize(fx.stream));
    struct gate *gate = gate_put(fx.stream);
    CU(MemcpyDtoDAsync(copy, gr_buffer_ptr(buffer), SIZE, fx.stream));
    assert_ok(gr_buffer_release(buffer));
    vulkan_fills(_i, 0x33, NULL);
    if (_i != WITHOUT)
        gate_open_after(gate, LATE_MS);
    vulkan_finish();
    gate_open(gate);
    assert_copy(_i != WITHOUT || vk.copies ? 0 : 0x33); /* a copy has memory of its own */
    end_case(_i);
}

VULKAN_TEST(cuda_writes_follow_vulkan_reads, 3)
{
    begin_case(_i);
    struct vulkan_gate *gate = vulkan_gate();
    struct vulkan_host *seen = vulkan_reads(_i, gate);
    if (_i != WITHOUT)
        vulkan_gate_open_after(gate, LATE_MS);
    gr_buffer *buffer = must_map(resource);
    cuda_fill(buffer, 0x44);
    must_release(buffer);
    vulkan_gate_open(gate);
    vulkan_finish();
    assert_bytes(seen->bytes, SIZE, _i != WITHOUT ? 0 : 0x44);
    end_case(_i);
}

/* The library makes the stream of the release wait for the stream of the map. */
VULKAN_TEST(release_on_another_stream_follows_work_on_the_first, 3)
{
    begin_case(_i);
    check_filled(_i, fx.other, 0x55);
    CU(StreamSynchronize(fx.other));
    end_case(_i);
}

/* If no submit comes between two maps, grinterop keeps their order, with and without semaphores. */
VULKAN_TEST(map_on_another_stream_follows_the_release, 3)
{
    begin_case(_i);
    gr_buffer *buffer = must_map(resource);
    gate_open_after(gate_put(fx.stream), LATE_MS);
    fill_and_release(buffer, 0x66);
    buffer = must_map_on(resource, fx.other);
    CU(MemcpyDtoDAsync(copy, gr_buffer_ptr(buffer), SIZE, fx.other));
    assert_ok(gr_buffer_release(buffer));
    CU(StreamSynchronize(fx.other));
    assert_copy(0x66);
    end_case(_i);
}

GROUP("frames", add_vulkan_case, add_copied_vulkan_case)

#define FRAMES 25

/* In each frame Vulkan fills, CUDA adds one, and Vulkan reads. The host waits only at the end. */
VULKAN_TEST(frames_need_no_wait_of_the_host)
{
    need_kernels();
    begin_case(WITH);
    struct vulkan_host *seen[FRAMES];
    uint64_t signalled = 0, waited = 0;
    for (int i = 0; i < FRAMES; i++) {
        gr_submit *points = begin_submit(resource);
        ck_assert_uint_gt(signal_value_of(points), signalled);
        signalled = signal_value_of(points);
        fill_in(points, resource, 2 * i, NULL);
        gr_buffer *buffer = must_map(resource);
        kernel_add_one(gr_buffer_ptr(buffer), SIZE, fx.stream);
        assert_ok(gr_buffer_release(buffer));
        points = begin_submit(resource);
        ck_assert_ptr_eq(wait_of(points), pair.computed);
        ck_assert_ptr_eq(signal_of(points), pair.drawn);
        ck_assert_uint_gt(wait_value_of(points), waited);
        ck_assert_uint_gt(signal_value_of(points), signalled);
        waited = wait_value_of(points);
        signalled = signal_value_of(points);
        seen[i] = vulkan_host(SIZE);
        VkCommandBuffer commands = vulkan_begin();
        vulkan_cmd_read(commands, gr_vk_buffer(resource), seen[i]);
        vulkan_submit_begun(commands, points, NULL);
    }
    vulkan_finish();
    for (int i = 0; i < FRAMES; i++)
        assert_bytes(seen[i]->bytes, SIZE, 2 * i + 1);
    end_case(WITH);
}

/* The case runs for each kind of queue that the device may have. */
VULKAN_TEST(frames_pass_on_each_kind_of_queue, 3)
{
    static const char *const names[] = {"graphics", "compute", "transfer"};
    const VkQueue queues[] = {vk.h->graphics, vk.h->compute, vk.h->transfer};
    const uint32_t families[] = {vk.h->graphics_family, vk.h->compute_family,
                                 vk.h->transfer_family};
    if (queues[_i] == VK_NULL_HANDLE)
        skip("the device has no %s queue of its own", names[_i]);
    vulkan_use_queue(queues[_i], families[_i]);
    begin_case(WITH);
    struct vulkan_host *seen = vulkan_host(SIZE);
    for (int i = 1; i <= 3; i++) {
        gr_submit *points = begin_submit(resource);
        fill_in(points, resource, 0x20 + i, NULL);
        cuda_copies();
        assert_copy(0x20 + i);
        gr_buffer *buffer = must_map(resource);
        gate_open_after(gate_put(fx.stream), 10);
        fill_and_release(buffer, 0x30 + i);
        points = begin_submit(resource);
        ck_assert_ptr_eq(wait_of(points), pair.computed);
        ck_assert_uint_eq(wait_value_of(points), 2 * (unsigned)i);
        VkCommandBuffer commands = vulkan_begin();
        vulkan_cmd_read(commands, gr_vk_buffer(resource), seen);
        vulkan_submit_begun(commands, points, NULL);
        vulkan_finish();
        assert_bytes(seen->bytes, SIZE, 0x30 + i);
    }
    end_case(WITH);
}

GROUP("the calling thread", add_vulkan_case, add_copied_vulkan_case)

VULKAN_TEST(map_does_not_block_the_thread)
{
    begin_case(WITH);
    struct vulkan_gate *gate = vulkan_gate();
    vulkan_gate_open_after(gate, TOO_LATE_MS);
    vulkan_fills(WITH, 0x77, gate);
    gr_buffer *buffer = must_map(resource);
    CU(MemcpyDtoDAsync(copy, gr_buffer_ptr(buffer), SIZE, fx.stream));
    assert_ok(gr_buffer_release(buffer));
    ck_assert_msg(!vulkan_gate_is_open(gate), "the map or the release waited for Vulkan");
    vulkan_gate_open(gate);
    assert_copy(0x77);
    end_case(WITH);
}

VULKAN_TEST(a_timeout_names_the_semaphore_and_its_values)
{
    static const char *const wanted[] = {"It may wait for this: Vulkan timeline semaphore 0x",
                                         ", last value 1", ", present value 0."};
    begin_case(WITH);
    struct vulkan_gate *gate = vulkan_gate();
    vulkan_gate_open_after(gate, TOO_LATE_MS);
    vulkan_fills(WITH, 0x77, gate);
    assert_ok(gr_buffer_release(must_map(resource)));
    ck_assert_int_eq(gr_resource_wait(resource, 20), GR_ERR_TIMEOUT);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        ck_assert_msg(strstr(gr_last_error()->message, wanted[i]), "%s", error_text());
    vulkan_gate_open(gate);
    vulkan_finish();
    end_case(WITH);
}

VULKAN_TEST(release_and_submit_do_not_block_the_thread)
{
    begin_case(WITH);
    struct gate *gate = gate_open_after(gate_put(fx.stream), TOO_LATE_MS);
    fill_mapped(resource, 0x78);
    struct vulkan_host *seen = vulkan_reads(WITH, NULL);
    ck_assert_msg(!gate_is_open(gate), "a call waited for the stream");
    gate_open(gate);
    vulkan_finish();
    assert_bytes(seen->bytes, SIZE, 0x78);
    end_case(WITH);
}

GROUP("two CUDA contexts", add_vulkan_case, add_copied_vulkan_case)

/*
 * Two resources in two CUDA contexts are released, each on the legacy stream of its context, and
 * wait for an event. The second stream must not continue before the event.
 *
 * Catches: only the first of the two streams waited, since both have the same handle.
 */
VULKAN_TEST(releases_in_two_contexts_wait_for_an_event)
{
    CUevent event;
    gr_resource *first = must_create(SIZE, GR_READ_WRITE);
    CUcontext context = new_context(NULL);
    gr_vk_device *wrap = vulkan_wrap();
    const VkBufferCreateInfo info = vulkan_buffer_info(SIZE);
    gr_resource *second = must_make(gr_create_vk_buffer(wrap, &info, GR_READ_WRITE));
    gr_buffer *buffers[] = {gr_map(first, CU_STREAM_LEGACY), gr_map(second, CU_STREAM_LEGACY)};
    assert_made(buffers[0]);
    assert_made(buffers[1]);
    CU(CtxSetCurrent(fx.context));
    CU(EventCreate(&event, CU_EVENT_DISABLE_TIMING));
    struct gate *gate = gate_put(fx.other);
    CU(EventRecord(event, fx.other));
    assert_ok(gr_buffer_release_many(buffers, 2, GR_STREAM_OF_MAP,
                                     &GR_INIT(gr_release_options, .wait_event = event)));
    gate_open_after(gate, LATE_MS);
    CU(CtxSetCurrent(context));
    CU(StreamSynchronize(CU_STREAM_LEGACY));
    ck_assert_msg(gate_is_open(gate), "the second stream did not wait for the event");
    CU(CtxSynchronize());
    gr_resource_free(second);
    gr_vk_device_free(wrap);
    end_context(context);
    CU(CtxSynchronize());
    gr_resource_free(first);
    CU(EventDestroy(event));
}
