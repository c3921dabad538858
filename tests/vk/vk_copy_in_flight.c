/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Frames in flight of Vulkan buffers and images: bytes, order, ends and refusals. */
#define _GNU_SOURCE
#include "vk_copy.h"

#include <stdlib.h>
#include <string.h>

#include "tests/drivers/fault_driver.h"

GROUP("frames in flight", add_vulkan_case)

#define FRAMES 40

static const unsigned flights[] = {0, 2, 4, 16}; /* 0: in order, one frame after the other */
#define FLIGHTS (sizeof(flights) / sizeof(flights[0]))

/* ---- Buffers and images of the program ------------------------------------------------------- */

static gr_resource *fly(unsigned flags, unsigned in_flight)
{
    gr_vk_buffer_desc desc = hidden_buffer(false);
    desc.in_flight = in_flight;
    return gr_from_vk_buffer(copying, &desc, flags);
}

gr_resource *must_fly(unsigned flags, unsigned in_flight)
{
    refuse_registration();
    gr_resource *resource = must_make(fly(flags, in_flight));
    fault->reset();
    return resource;
}

struct vulkan_image fly_image(unsigned flags, unsigned in_flight)
{
    struct vulkan_image image = {.format = vulkan_format(VK_FORMAT_R8G8B8A8_UNORM),
                                 .shape = vulkan_shape("2D array")};
    image.info = vulkan_image_info(image.format, image.shape, 37, 19, 3, 0);
    image.image = hidden_image(&image.info);
    refuse_registration();
    image.resource =
        must_make(gr_from_vk_image(copying,
                                   &GR_INIT(gr_vk_image_desc, .create_info = &image.info,
                                            .image = image.image, .in_flight = in_flight),
                                   flags));
    fault->reset();
    return image;
}

void end_image(struct vulkan_image *image)
{
    VK(QueueWaitIdle(vk.h->graphics));
    gr_resource_free(image->resource);
    vk.DestroyImage(vk.h->device, image->image, NULL);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

/* Both halves of a frame have their own byte. */
static int first_byte(int frame)
{
    return (7 * frame + 1) & 0xFF;
}

static int second_byte(int frame)
{
    return (11 * frame + 5) & 0xFF;
}

static void assert_frame(const unsigned char *bytes, int frame)
{
    assert_bytes(bytes, SIZE / 2, first_byte(frame));
    assert_bytes(bytes + SIZE / 2, SIZE / 2, second_byte(frame));
}

static void write_frame_on(gr_resource *resource, int frame, CUstream stream)
{
    gr_buffer *buffer = must_map_on(resource, stream);
    const CUdeviceptr ptr = gr_buffer_ptr(buffer);
    CU(MemsetD8Async(ptr, (unsigned char)first_byte(frame), SIZE / 2, stream));
    CU(MemsetD8Async(ptr + SIZE / 2, (unsigned char)second_byte(frame), SIZE / 2, stream));
    assert_ok(gr_buffer_release(buffer));
}

static void write_frame(gr_resource *resource, int frame)
{
    write_frame_on(resource, frame, fx.stream);
}

/* Records a copy of the buffer to place `i` of the host memory. */
static void record_read_at(VkCommandBuffer commands, gr_resource *resource,
                           const struct vulkan_host *seen, int i)
{
    vulkan_cmd_copy_to_host(commands, gr_vk_buffer(resource), seen, (VkDeviceSize)i * SIZE, SIZE);
}

static void submit_read(gr_resource *resource, const struct vulkan_host *seen, int i)
{
    VkCommandBuffer commands = vulkan_begin();
    record_read_at(commands, resource, seen, i);
    must_submit(resource, commands);
}

/* Waits for Vulkan, and checks n frames, the first of which is `first`. */
static void check_frames(const struct vulkan_host *seen, int n, int first)
{
    VK(QueueWaitIdle(vk.h->graphics));
    for (int i = 0; i < n; i++)
        assert_frame(seen->bytes + (size_t)i * SIZE, first + i);
}

static void check_frame(gr_resource *resource, const struct vulkan_host *seen, int frame)
{
    submit_read(resource, seen, 0);
    check_frames(seen, 1, frame);
}

static void submit_write(gr_resource *resource, int frame)
{
    VkCommandBuffer commands = vulkan_begin();
    vk.CmdFillBuffer(commands, gr_vk_buffer(resource), 0, SIZE / 2,
                     (uint32_t)first_byte(frame) * 0x01010101u);
    vk.CmdFillBuffer(commands, gr_vk_buffer(resource), SIZE / 2, SIZE / 2,
                     (uint32_t)second_byte(frame) * 0x01010101u);
    must_submit(resource, commands);
}

static void read_frame(gr_resource *resource, unsigned char *seen)
{
    gr_buffer *buffer = must_map(resource);
    CU(MemcpyDtoHAsync(seen, gr_buffer_ptr(buffer), SIZE, fx.stream));
    assert_ok(gr_buffer_release(buffer));
}

/* ---- CUDA writes ----------------------------------------------------------------------------- */

/*
 * The queue is blocked. CUDA finishes as many frames as there are staging buffers, and then waits,
 * because it would overwrite a frame that Vulkan has not read.
 */
VULKAN_TEST(cuda_writes_ahead_of_vulkan, FLIGHTS *WAYS)
{
    const int n = (int)flights[_i / WAYS];
    struct vulkan_host *seen = vulkan_host(FRAMES * SIZE);
    begin_copying(_i % WAYS);
    GR_AUTO(gr_resource) *resource = must_fly(GR_WRITE_DISCARD, (unsigned)n);
    struct vulkan_gate *gate = vulkan_gate();
    vulkan_submit(vulkan_begin(), NULL, gate); /* blocks the queue */
    vulkan_gate_open_after(gate, 5000);        /* in case that a call waits for it */
    for (int i = 0; i < FRAMES; i++) {
        write_frame(resource, i);
        submit_read(resource, seen, i);
        if (i == n - 1)
            CU(StreamSynchronize(fx.stream));
        if (i != (n ? n : 1))
            continue;
        ck_assert(!vulkan_gate_is_open(gate));
        sleep_ms(30);
        const CUresult state = fx.cu->StreamQuery(fx.stream);
        vulkan_gate_open(gate);
        ck_assert_int_eq(state, CUDA_ERROR_NOT_READY);
    }
    check_frames(seen, FRAMES, 0);
    end_copying();
}

/* Nothing blocks, so both sides run as far ahead as they may. */
VULKAN_TEST(every_written_frame_arrives, FLIGHTS *WAYS)
{
    struct vulkan_host *seen = vulkan_host(FRAMES * SIZE);
    begin_copying(_i % WAYS);
    GR_AUTO(gr_resource) *resource = must_fly(GR_WRITE_DISCARD, flights[_i / WAYS]);
    for (int i = 0; i < FRAMES; i++) {
        write_frame_on(resource, i, i % 3 ? fx.stream : fx.other);
        submit_read(resource, seen, i);
    }
    check_frames(seen, FRAMES, 0);
    CU(StreamSynchronize(fx.other));
    end_copying();
}

/* Several maps precede a submit, and several submits a map. */
VULKAN_TEST(the_newest_frame_wins, FLIGHTS *WAYS)
{
    begin_copying(_i % WAYS);
    GR_AUTO(gr_resource) *resource = must_fly(GR_WRITE_DISCARD, flights[_i / WAYS]);
    struct vulkan_host *seen = vulkan_host(SIZE);
    for (int i = 0, frame = 0; i < FRAMES; i++) {
        for (int maps = 0; maps <= i % 5; maps++)
            write_frame(resource, ++frame);
        for (int submits = 0; submits < 3; submits++)
            check_frame(resource, seen, frame);
    }
    submit_write(resource, 3); /* takes the bytes, so later submits do not */
    check_frame(resource, seen, 3);
    end_copying();
}

/*
 * Parts at random places, whole buffers, and writes by Vulkan between them, against the same writes
 * in host memory.
 */
VULKAN_TEST(parts_of_several_frames_are_put_together, FLIGHTS *WAYS)
{
    static unsigned char expected[SIZE];
    unsigned random = (unsigned)_i + 1;
#define NEXT(range) ((random = random * 1664525u + 1013904223u) >> 8) % (range)
    begin_copying(_i % WAYS);
    GR_AUTO(gr_resource) *resource = must_fly(GR_WRITE_DISCARD, flights[_i / WAYS]);
    submit_write(resource, 0);
    memset(expected, first_byte(0), SIZE / 2);
    memset(expected + SIZE / 2, second_byte(0), SIZE / 2);
    for (int i = 0; i < 200; i++) {
        const size_t unit = NEXT(8) ? 256 : SIZE / 4;
        const size_t first = unit * (NEXT(SIZE / unit));
        const size_t size = 1 + NEXT(SIZE - first);
        write_part(resource, first, size < 8 * unit ? size : 8 * unit, i, expected);
        if (NEXT(10) == 0)
            write_part(resource, 0, SIZE, i + 100, expected);
        if (NEXT(12) == 0)
            check_by_vulkan(resource, expected);
    }
    check_by_vulkan(resource, expected);
    end_copying();
#undef NEXT
}

/* ---- CUDA reads ------------------------------------------------------------------------------ */

/*
 * The stream is blocked. Vulkan writes as many frames as there are staging buffers, and the next
 * submit waits, because it would overwrite a frame that CUDA has not read.
 */
VULKAN_TEST(vulkan_writes_ahead_of_cuda, FLIGHTS *WAYS)
{
    const int n = (int)flights[_i / WAYS];
    void *seen = NULL; /* pinned, since other copies block */
    begin_copying(_i % WAYS);
    CU(MemAllocHost(&seen, FRAMES * SIZE));
    GR_AUTO(gr_resource) *resource = must_fly(GR_READ_ONLY, (unsigned)n);
    const gr_vk_use use = transfers(VK_IMAGE_LAYOUT_UNDEFINED);
    assert_ok(submit_with(&resource, 1, VK_NULL_HANDLE, &use, NULL)); /* Vulkan keeps it */
    struct gate *gate =
        gate_open_after(gate_put(fx.stream), 5000); /* in case that a call waits for it */
    for (int i = 0; i < FRAMES; i++) {
        submit_write(resource, i);
        read_frame(resource, (unsigned char *)seen + (size_t)i * SIZE);
        if (i == n - 1)
            VK(QueueWaitIdle(vk.h->graphics));
        if (i == (n ? n : 1)) {
            VkFence fence = VK_NULL_HANDLE;
            const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
            VK(CreateFence(vk.h->device, &info, NULL, &fence));
            VK(QueueSubmit(vk.h->graphics, 0, NULL, fence));
            ck_assert(!gate_is_open(gate));
            const VkResult state = vk.WaitForFences(vk.h->device, 1, &fence, VK_TRUE, 30000000);
            gate_open(gate);
            VK(WaitForFences(vk.h->device, 1, &fence, VK_TRUE, UINT64_MAX));
            vk.DestroyFence(vk.h->device, fence, NULL);
            ck_assert_int_eq(state, VK_TIMEOUT);
        }
    }
    CU(StreamSynchronize(fx.stream));
    VK(QueueWaitIdle(vk.h->graphics));
    for (int i = 0; i < FRAMES; i++)
        assert_frame((unsigned char *)seen + (size_t)i * SIZE, i);
    CU(MemFreeHost(seen));
    end_copying();
}

/* CUDA reads the newest frame, more than once, and its own writes reach nobody. */
VULKAN_TEST(cuda_reads_the_newest_frame, FLIGHTS *WAYS)
{
    static unsigned char seen[2][SIZE];
    begin_copying(_i % WAYS);
    GR_AUTO(gr_resource) *resource = must_fly(GR_READ_ONLY, flights[_i / WAYS]);
    for (int i = 0, frame = 0; i < FRAMES; i++) {
        for (int submits = 0; submits <= i % 5; submits++)
            submit_write(resource, ++frame);
        read_frame(resource, seen[0]);
        read_frame(resource, seen[1]);
        CU(StreamSynchronize(fx.stream));
        assert_frame(seen[0], frame);
        assert_frame(seen[1], frame);
    }
    end_copying();
}

/* ---- Images ---------------------------------------------------------------------------------- */

/* The regions of all levels in linear memory. Returns the size of the memory. */
static size_t list_levels(const struct vulkan_image *image, VkBufferImageCopy regions[])
{
    size_t size = 0;
    for (unsigned i = 0; i < image->info.mipLevels; i++) {
        regions[i] = (VkBufferImageCopy){
            .bufferOffset = size,
            .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, i, 0, image->info.arrayLayers},
            .imageExtent = {vulkan_image_width(image, i), vulkan_image_height(image, i), 1}};
        size += vulkan_image_bytes(image, i) * image->info.arrayLayers;
    }
    return size;
}

static void fill_with_pattern(const struct vulkan_image *image, unsigned number,
                              unsigned char *bytes)
{
    for (unsigned level = 0; level < image->info.mipLevels; level++)
        for (unsigned layer = 0; layer < image->info.arrayLayers; layer++) {
            vulkan_image_pattern(image, level, layer, number, bytes);
            bytes += vulkan_image_bytes(image, level);
        }
}

void submit_image(struct vulkan_image *image, struct vulkan_host *host, bool write)
{
    VkBufferImageCopy regions[8];
    VkCommandBuffer commands = vulkan_begin();
    const VkImageLayout layout =
        write ? VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL : VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    const gr_vk_use use = transfers(layout);
    const VkMemoryBarrier seen = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                  .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                  .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    list_levels(image, regions);
    if (write)
        vk.CmdCopyBufferToImage(commands, host->buffer, image->image, layout, image->info.mipLevels,
                                regions);
    else
        vk.CmdCopyImageToBuffer(commands, image->image, layout, host->buffer, image->info.mipLevels,
                                regions);
    vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0,
                          1, &seen, 0, NULL, 0, NULL);
    assert_ok(submit_with(&image->resource, 1, commands, &use, &use));
}

void begin_image(struct vulkan_image *image)
{
    assert_ok(gr_vk_hand_over(&image->resource, 1, VK_IMAGE_LAYOUT_UNDEFINED));
}

VULKAN_TEST(every_written_image_arrives, FLIGHTS *WAYS)
{
    struct vulkan_host *seen[FRAMES / 2], *expected;
    VkBufferImageCopy regions[8];
    begin_copying(_i % WAYS);
    struct vulkan_image image =
        fly_image(GR_WRITE_DISCARD | GR_SURFACE_LOAD_STORE, flights[_i / WAYS]);
    const size_t size = list_levels(&image, regions);
    begin_image(&image);
    for (int i = 0; i < FRAMES / 2; i++) {
        gr_buffer *buffer = must_map_vulkan(&image);
        cuda_image_fill(buffer, &image, (unsigned)i);
        must_release(buffer);
        submit_image(&image, seen[i] = vulkan_host(size), false);
    }
    VK(QueueWaitIdle(vk.h->graphics));
    expected = vulkan_host(size);
    for (int i = 0; i < FRAMES / 2; i++) {
        fill_with_pattern(&image, (unsigned)i, expected->bytes);
        ck_assert(memcmp(seen[i]->bytes, expected->bytes, size) == 0);
    }
    end_image(&image);
    end_copying();
}

VULKAN_TEST(cuda_reads_every_image, FLIGHTS *WAYS)
{
    VkBufferImageCopy regions[8];
    begin_copying(_i % WAYS);
    struct vulkan_image image = fly_image(GR_READ_ONLY, flights[_i / WAYS]);
    const size_t size = list_levels(&image, regions);
    begin_image(&image);
    for (int i = 0; i < FRAMES / 2; i++) {
        for (int submits = 0; submits <= i % 3; submits++) {
            struct vulkan_host *from = vulkan_host(size);
            fill_with_pattern(&image, (unsigned)(i + submits), from->bytes);
            submit_image(&image, from, true);
        }
        gr_buffer *buffer = must_map_vulkan(&image);
        assert_no_difference(cuda_image_differs(buffer, &image, (unsigned)(i + i % 3)));
        must_release(buffer);
    }
    end_image(&image);
    end_copying();
}

/* ---- Semaphores ------------------------------------------------------------------------------ */

/* Frames in flight keep their bytes across other semaphores, whose values begin anew. */
VULKAN_TEST(semaphores_can_be_replaced_between_frames, WAYS)
{
    begin_copying(_i);
    GR_AUTO(gr_resource) *writer = must_fly(GR_WRITE_DISCARD, 4);
    GR_AUTO(gr_resource) *reader = must_fly(GR_READ_ONLY, 4);
    static unsigned char read[SIZE];
    struct vulkan_host *seen = vulkan_host(SIZE);
    for (int i = 0; i < FRAMES; i++) {
        if (i % 9 == 5) {
            GR_AUTO(gr_semaphore) *to = gr_semaphore_create_vk(copying, VK_SEMAPHORE_TYPE_TIMELINE);
            GR_AUTO(gr_semaphore) *of = gr_semaphore_create_vk(copying, VK_SEMAPHORE_TYPE_TIMELINE);
            VK(QueueWaitIdle(vk.h->graphics));
            assert_ok(gr_resource_set_sync(writer, to, of));
            assert_ok(gr_resource_set_sync(reader, to, of));
        }
        write_frame(writer, i);
        check_frame(writer, seen, i);
        submit_write(reader, i);
        read_frame(reader, read);
        CU(StreamSynchronize(fx.stream));
        assert_frame(read, i);
    }
    end_copying();
}

/* Without semaphores the program waits for both sides, as without frames in flight. */
VULKAN_TEST(the_program_can_order_both_sides, WAYS)
{
    begin_copying(_i);
    GR_AUTO(gr_resource) *resource = must_fly(GR_WRITE_DISCARD, 3);
    assert_ok(gr_resource_set_sync(resource, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE));
    struct vulkan_host *seen = vulkan_host(SIZE);
    for (int i = 0; i < 10; i++) {
        write_frame(resource, i);
        assert_ok(gr_resource_wait(resource, GR_WAIT_FOREVER));
        check_frame(resource, seen, i);
    }
    end_copying();
}

static gr_semaphore *create_binary(void)
{
    return gr_semaphore_create_vk(copying, VK_SEMAPHORE_TYPE_BINARY);
}

/* A binary semaphore has no earlier values, so each map waits for the last submit. */
VULKAN_TEST(binary_semaphores_order_each_frame, 2)
{
    begin_copying(BY_PEER);
    gr_semaphore *to = create_binary();
    if (!to) {
        end_copying();
        skip("this Vulkan device exports no binary semaphores");
        return;
    }
    gr_semaphore *of = must_make(create_binary());
    GR_AUTO(gr_resource) *resource = must_fly(_i ? GR_READ_ONLY : GR_WRITE_DISCARD, 4);
    static unsigned char read[FRAMES][SIZE];
    struct vulkan_host *seen = vulkan_host(FRAMES * SIZE);
    assert_ok(gr_resource_set_sync(resource, to, of));
    for (int i = 0; i < FRAMES; i++)
        if (_i) {
            submit_write(resource, i);
            read_frame(resource, read[i]);
        } else {
            write_frame(resource, i);
            submit_read(resource, seen, i);
        }
    VK(QueueWaitIdle(vk.h->graphics));
    CU(StreamSynchronize(fx.stream));
    for (int i = 0; i < FRAMES; i++)
        assert_frame(_i ? read[i] : seen->bytes + (size_t)i * SIZE, i);
    gr_semaphore_free(to);
    gr_semaphore_free(of);
    end_copying();
}

/* ---- Ends and failures ----------------------------------------------------------------------- */

/*
 * Vulkan still copies from the staging buffers when the resource ends: after its last submit, also
 * in order, also with binary semaphores, which cannot be queried, after a release without a submit,
 * while it is mapped, or before a lost release.
 */
enum { SUBMITTED, IN_ORDER, BINARY, RELEASED, MAPPED, LOST, ENDS };

VULKAN_TEST(a_resource_can_end_with_frames_in_flight, ENDS *WAYS)
{
    const int how = _i % ENDS;
    const bool in_order = how == IN_ORDER || how == BINARY;
    const int n = in_order ? 1 : 3;
    struct vulkan_host *seen = vulkan_host(3 * SIZE);
    begin_copying(_i / ENDS);
    gr_semaphore *to = how == BINARY ? create_binary() : NULL;
    gr_semaphore *of = to ? create_binary() : NULL;
    if (how == BINARY && !of) {
        end_copying();
        skip("this Vulkan device exports no binary semaphores");
        return;
    }
    gr_resource *resource = must_fly(GR_WRITE_DISCARD, in_order ? 0 : 4);
    if (of)
        assert_ok(gr_resource_set_sync(resource, to, of));
    struct vulkan_gate *gate = vulkan_gate();
    vulkan_submit(vulkan_begin(), NULL, gate);
    for (int i = 0; i < n; i++) {
        write_frame(resource, i);
        submit_read(resource, seen, i);
    }
    gr_buffer *buffer = NULL;
    if (how == RELEASED) /* this release does not wait for Vulkan */
        write_frame(resource, 9);
    if (how == MAPPED || how == LOST)
        cuda_fill(buffer = must_map(resource), 9);
    CU(StreamSynchronize(fx.stream));
    if (how != LOST)
        assert_ok(gr_resource_close(resource, fx.stream));
    gr_resource_free(resource);
    gr_buffer_release_later(buffer);
    resource = must_copy(SIZE, GR_WRITE_DISCARD); /* frees closed resources whose work is done */
    ck_assert(!vulkan_gate_is_open(gate));
    vulkan_gate_open(gate);
    check_frames(seen, n, 0);
    gr_resource_free(resource);
    gr_semaphore_free(to);
    gr_semaphore_free(of);
    end_copying();
}

/* A release that CUDA refuses can be repeated, and no frame is lost. */
VULKAN_TEST(a_refused_release_or_map_can_be_repeated, 2)
{
    static const char *const calls[] = {"cuLaunchHostFunc", "cuMemcpyAsync"};
    struct vulkan_host *seen = vulkan_host(FRAMES * SIZE);
    begin_copying(_i ? IMPORTED : BY_CPU);
    GR_AUTO(gr_resource) *resource = must_fly(GR_WRITE_DISCARD, 3);
    for (int i = 0; i < FRAMES; i++) {
        gr_buffer *buffer = must_map(resource);
        cuda_fill(buffer, i);
        if (i % 4 == 2) {
            ck_assert(fault->set(calls[_i], CUDA_ERROR_UNKNOWN, 0));
            assert_fails(gr_buffer_release(buffer), GR_ERR_CUDA, CUDA_ERROR_UNKNOWN, "");
            fault->reset();
        }
        assert_ok(gr_buffer_release(buffer));
        submit_read(resource, seen, i);
    }
    VK(QueueWaitIdle(vk.h->graphics));
    for (int i = 0; i < FRAMES; i++)
        assert_bytes(seen->bytes + (size_t)i * SIZE, SIZE, i);
    end_copying();
}

/* A cancelled submit takes nothing, and a map without a kernel writes no defined bytes. */
VULKAN_TEST(a_cancelled_submit_loses_no_frame, WAYS)
{
    begin_copying(_i);
    GR_AUTO(gr_resource) *resource = must_fly(GR_WRITE_DISCARD, 2);
    struct vulkan_host *seen = vulkan_host(SIZE);
    for (int i = 0; i < 9; i++) {
        write_frame(resource, i);
        gr_submit_free(must_make(gr_submit_begin(&resource, 1)));
        check_frame(resource, seen, i);
    }
    end_copying();
}

/* ---- Rings ----------------------------------------------------------------------------------- */

VULKAN_TEST(slots_of_a_ring_can_have_frames_in_flight, WAYS)
{
    const gr_vk_use use = transfers(VK_IMAGE_LAYOUT_UNDEFINED);
    gr_resource *resources[2];
    struct vulkan_host *seen = vulkan_host(FRAMES * SIZE);
    const gr_slot *slot;
    begin_copying(_i);
    for (int i = 0; i < 2; i++)
        resources[i] = must_fly(GR_WRITE_DISCARD, 3);
    gr_ring *ring = must_make(gr_ring_create(resources, 2, NULL));
    for (int i = 0; i < FRAMES; i++) {
        assert_ok(gr_ring_acquire_write(ring, fx.stream, &slot, 1, GR_WAIT_FOREVER));
        cuda_fill(slot->buffer, i);
        assert_ok(gr_ring_hand_over(ring, &slot, 1));
        assert_ok(gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, GR_WAIT_FOREVER));
        VkCommandBuffer commands = vulkan_begin();
        record_read_at(commands, slot->resource, seen, i);
        assert_ok(submit_to(slot->submit, commands, &use, &use));
        assert_ok(gr_ring_give_back(ring, &slot, 1));
    }
    VK(QueueWaitIdle(vk.h->graphics));
    for (int i = 0; i < FRAMES; i++)
        assert_bytes(seen->bytes + (size_t)i * SIZE, SIZE, i);
    gr_ring_free(ring);
    free_resources(resources, 2);
    end_copying();
}

/* ---- Descriptions and refusals --------------------------------------------------------------- */

VULKAN_TEST(describe_reports_the_staging_buffers, WAYS)
{
    begin_copying(_i);
    GR_AUTO(gr_resource) *resource = must_fly(GR_READ_ONLY, 4);
    assert_described(resource, _i == BY_PEER ? "transport peer" : "transport copy",
                     "4 staging buffers of 65536 bytes", "since");
    end_copying();
}

/* CUDA could import the memory, but frames in flight need staging buffers. */
VULKAN_TEST(frames_in_flight_are_copied_if_cuda_could_import_them)
{
    copying = wrap_with(GR_TRANSPORT_ANY, vk.h->synchronization2);
    struct vulkan_own own = vulkan_own(SIZE, false);
    const gr_vk_buffer_desc desc =
        GR_INIT(gr_vk_buffer_desc, .buffer = own.buffer, .memory = own.memory,
                .memory_size = own.memory_size, .size = SIZE, .in_flight = 2);
    gr_resource *resource = must_make(gr_from_vk_buffer(copying, &desc, GR_WRITE_DISCARD));
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, GR_TRANSPORT_PEER);
    assert_described(resource, "2 staging buffers", "`in_flight` needs staging buffers");
    write_frame(resource, 1);
    check_frame(resource, vulkan_host(SIZE), 1);
    gr_resource_free(resource);
    end_copying();
}

VULKAN_TEST(impossible_frames_in_flight_are_refused)
{
    begin_copying(BY_PEER);
    struct vulkan_image image = fly_image(GR_READ_ONLY, 0);
    const gr_vk_image_desc picture =
        GR_INIT(gr_vk_image_desc, .create_info = &image.info, .image = image.image, .in_flight = 4);
    fault->reset();
    assert_null_invalid(fly(GR_WRITE_DISCARD, 1), "`in_flight` is 1");
    assert_null_invalid(fly(GR_WRITE_DISCARD, 65), "2 to 64");
    assert_null_invalid(fly(GR_READ_WRITE, 4), "read_write");
    assert_null_invalid(gr_from_vk_image(copying, &picture, GR_READ_WRITE), "read_write");
    gr_vk_buffer_desc desc = hidden_buffer(false);
    desc.in_flight = 4;
    ck_assert_uint_eq(fault->calls("cuImportExternalMemory"), 0);
    gr_vk_device *sharing = wrap_with(GR_TRANSPORT_EXTERNAL, false);
    if (fx.device == 0)
        assert_null_invalid(gr_from_vk_buffer(sharing, &desc, GR_WRITE_DISCARD),
                            "GR_TRANSPORT_ANY");
    gr_vk_device_free(sharing);
    end_image(&image);
    end_copying();
}

VULKAN_TEST(too_little_memory_for_frames_in_flight_leaves_nothing)
{
    begin_copying(BY_PEER);
    ck_assert(fault->set("cuExternalMemoryGetMappedBuffer", CUDA_ERROR_OUT_OF_MEMORY, 0));
    assert_null(fly(GR_WRITE_DISCARD, 16), GR_ERR_NO_MEMORY, CUDA_ERROR_OUT_OF_MEMORY,
                "could not be mapped");
    fault->reset();
    GR_AUTO(gr_resource) *resource = must_fly(GR_WRITE_DISCARD, 16);
    write_frame(resource, 1);
    check_frame(resource, vulkan_host(SIZE), 1);
    end_copying();
}

#define assert_needs_submit(call) assert_fails(call, GR_ERR_UNSUPPORTED, 0, "has frames in flight")

/*
 * Commands of the program cannot name the staging buffer of each frame. Catches: gr_submit_commit()
 * accepted a submit of the program, and the frame was lost.
 */
VULKAN_TEST(submits_by_the_program_are_refused)
{
    const gr_vk_use use = transfers(VK_IMAGE_LAYOUT_UNDEFINED);
    begin_copying(BY_PEER);
    GR_AUTO(gr_resource) *resource = must_fly(GR_WRITE_DISCARD, 2);
    write_frame(resource, 6);
    VkCommandBuffer commands = vulkan_begin();
    assert_needs_submit(gr_vk_cmd_from_cuda(commands, &resource, 1, &use));
    assert_needs_submit(gr_vk_cmd_to_cuda(commands, &resource, 1, &use));
    gr_submit *submit = must_make(gr_submit_begin(&resource, 1));
    VkSubmitInfo2 info = {.flags = 77};
    VkSubmitInfo info_v1 = {.waitSemaphoreCount = 77};
    assert_needs_submit(gr_vk_submit_fill(submit, NULL, 0, &info));
    assert_needs_submit(gr_vk_submit_fill_v1(submit, NULL, 0, &info_v1));
    ck_assert(info.flags == 77 && info_v1.waitSemaphoreCount == 77);
    const gr_vk_submit_desc own = GR_INIT(gr_vk_submit_desc, .own_barriers = true);
    assert_fails(gr_vk_submit(submit, &own), GR_ERR_STATE, 0, "describe its first use");
    vulkan_submit(commands, submit, NULL);
    assert_needs_submit(gr_submit_commit(submit));
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "in a submit");
    gr_submit_free(submit);
    check_frame(resource, vulkan_host(SIZE), 6);
    write_frame(resource, 7);
    check_frame(resource, vulkan_host(SIZE), 7);
    end_copying();
}
