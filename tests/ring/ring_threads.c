/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Producer and consumer on two threads: Vulkan on the main thread, and CUDA, which needs no
 * graphics context, on the other. One of the threads is slower, is stopped while it waits, or has
 * its slots replaced.
 */
#define _GNU_SOURCE
#include "ring_vulkan.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define SLOTS     3
#define IN_FLIGHT 8
#define MOST      400 /* frames of a case */

static gr_side producer;

/* ---- The CUDA thread ------------------------------------------------------------------------- */

/* The CUDA thread. It records an error text: Check's assertions only work on the main thread. */
static struct {
    gr_ring *ring;
    pthread_t thread;
    uint64_t frames;   /* frames to produce or to read, unless the ring is stopped earlier */
    unsigned delay_ms; /* the delay at every eighth frame */
    uint64_t done;
    uint64_t numbers[MOST];
    CUdeviceptr copies;
    char wrong[1024];
} cuda;

/* The value of all bytes of the frame with this number. */
static int value_of(uint64_t frame)
{
    return (int)(frame * 7 & 255);
}

static bool failed(const char *what)
{
    gr_error error = *gr_last_error();
    snprintf(cuda.wrong, sizeof(cuda.wrong), "%s at frame %llu; %s: %s", what,
             (unsigned long long)cuda.done, gr_status_name(error.status), error.message);
    return false;
}

static bool has_acquired(gr_status status)
{
    return status == GR_OK || (status != GR_ERR_STOPPED && failed("acquire"));
}

static bool produce_one(void)
{
    const gr_slot *slot;
    if (!has_acquired(gr_ring_acquire_write(cuda.ring, fx.stream, &slot, 1, 20000)))
        return false;
    if (fx.cu->MemsetD8Async(gr_buffer_ptr(slot->buffer), (unsigned char)value_of(slot->frame),
                             RING_SIZE, fx.stream) != CUDA_SUCCESS)
        return failed("memset");
    return gr_ring_hand_over(cuda.ring, &slot, 1) == GR_OK || failed("publish");
}

static bool consume_one(void)
{
    const gr_slot *slot;
    if (!has_acquired(gr_ring_acquire_read(cuda.ring, fx.stream, &slot, 1, 20000)))
        return false;
    cuda.numbers[cuda.done] = slot->frame;
    if (fx.cu->MemcpyDtoDAsync(cuda.copies + cuda.done * RING_SIZE, gr_buffer_ptr(slot->buffer),
                               RING_SIZE, fx.stream) != CUDA_SUCCESS)
        return failed("copy");
    return gr_ring_give_back(cuda.ring, &slot, 1) == GR_OK || failed("give back");
}

static void *run_cuda(void *unused)
{
    bool (*step)(void) = producer == GR_SIDE_CUDA ? produce_one : consume_one;
    (void)unused;
    fx.cu->CtxSetCurrent(fx.context);
    while (cuda.done < cuda.frames && step()) {
        cuda.done++;
        if (cuda.delay_ms > 0 && cuda.done % 8 == 0)
            sleep_ms(cuda.delay_ms);
    }
    fx.cu->CtxSetCurrent(NULL);
    return NULL;
}

/* ---- The Vulkan thread ----------------------------------------------------------------------- */

static struct ring_sync sync;

/* The host buffers for the slots that Vulkan is reading. */
static struct vulkan_host *hosts[IN_FLIGHT];
static uint64_t expected[IN_FLIGHT];
static int in_flight;

static void start_cuda(gr_ring *ring, uint64_t frames, unsigned delay_ms)
{
    memset(&cuda, 0, sizeof(cuda));
    cuda.ring = ring;
    cuda.frames = frames;
    cuda.delay_ms = delay_ms;
    CU(MemAlloc(&cuda.copies, MOST * RING_SIZE));
    ck_assert_int_eq(pthread_create(&cuda.thread, NULL, run_cuda, NULL), 0);
}

static void begin(size_t slots, gr_side side, gr_ring_mode mode, uint64_t frames, unsigned delay_ms)
{
    gr_ring_options options = GR_INIT(gr_ring_options, .producer = side, .mode = mode);
    producer = side;
    sync = ring_sync_begin();
    in_flight = 0;
    for (int i = 0; i < IN_FLIGHT; i++)
        hosts[i] = vulkan_host(RING_SIZE);
    start_cuda(must_make_vulkan_ring(slots, &sync, &options), frames, delay_ms);
}

static void join_cuda(void)
{
    pthread_join(cuda.thread, NULL);
    ck_assert_msg(cuda.wrong[0] == '\0', "the CUDA thread: %s", cuda.wrong);
}

/* Frees everything. Call it after the CUDA thread has been joined. */
static void end(void)
{
    CU(StreamSynchronize(fx.stream));
    vulkan_finish();
    gr_ring_free(cuda.ring);
    CU(MemFree(cuda.copies));
    ring_sync_end(&sync);
}

static void check_reads(void)
{
    vulkan_finish();
    for (int i = 0; i < in_flight; i++)
        assert_bytes(hosts[i]->bytes, RING_SIZE, value_of(expected[i]));
    in_flight = 0;
}

/* Reads a frame. Returns false once the ring has been stopped and all frames are read. */
static bool read_one(uint64_t *frame)
{
    const gr_slot *slot;
    gr_status status = gr_ring_acquire_read(cuda.ring, GR_STREAM_NONE, &slot, 1, 20000);
    if (status == GR_ERR_STOPPED)
        return false;
    assert_ok(status);
    submit_read(&slot, 1, &hosts[in_flight], NULL);
    expected[in_flight++] = slot->frame;
    *frame = slot->frame;
    assert_ok(gr_ring_give_back(cuda.ring, &slot, 1));
    if (in_flight == IN_FLIGHT)
        check_reads();
    return true;
}

static void write_one(void)
{
    const gr_slot *slot;
    assert_ok(gr_ring_acquire_write(cuda.ring, GR_STREAM_NONE, &slot, 1, 20000));
    uint64_t frame = slot->frame; /* the slot is no longer valid after the give-back */
    submit_fill(&slot, 1, value_of(frame), NULL);
    assert_ok(gr_ring_hand_over(cuda.ring, &slot, 1));
    if (frame % 32 == 0)
        vulkan_finish();
}

/* Checks all frames that CUDA has read. */
static void check_seen(bool all)
{
    static unsigned char seen[MOST * RING_SIZE];
    CU(StreamSynchronize(fx.stream));
    cuda_read(seen, cuda.copies, sizeof(seen), fx.stream);
    for (uint64_t i = 0, last = 0; i < cuda.done; last = cuda.numbers[i++]) {
        ck_assert_uint_gt(cuda.numbers[i], last);
        ck_assert(!all || cuda.numbers[i] == i + 1);
        assert_bytes(seen + i * RING_SIZE, RING_SIZE, value_of(cuda.numbers[i]));
    }
}

GROUP("speeds", add_vulkan_case, add_copied_vulkan_case)

/* CUDA and Vulkan are equally fast, the producer is slower, or the consumer is slower. */
static const struct {
    unsigned cuda_ms, vulkan_ms;
} speeds[] = {{0, 0}, {4, 0}, {0, 4}};

VULKAN_TEST(vulkan_reads_every_frame_of_cuda, 6)
{
    unsigned cuda_ms = speeds[_i % 3].cuda_ms, vulkan_ms = speeds[_i % 3].vulkan_ms;
    begin(_i < 3 ? SLOTS : 3 * SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS, MOST, cuda_ms);
    uint64_t frame = 0;
    for (uint64_t i = 1; i <= MOST; i++) {
        ck_assert(read_one(&frame));
        ck_assert_uint_eq(frame, i);
        if (i % 8 == 0 && vulkan_ms > 0)
            sleep_ms(vulkan_ms);
    }
    join_cuda();
    check_reads();
    assert_frames(cuda.ring, MOST, MOST, 0);
    end();
}

/* Catches: the CUDA thread slept until the consumer's next call. */
VULKAN_TEST(a_waiting_thread_gets_a_returned_slot)
{
    enum { MANY = 8 };
    uint64_t frame = 0;
    begin(MANY, GR_SIDE_CUDA, GR_RING_LOSSLESS, MANY + 1, 0);
    while (gr_ring_get_info(cuda.ring)->written < MANY)
        sleep_ms(1);
    sleep_ms(50);
    ck_assert(read_one(&frame));
    join_cuda();
    ck_assert_uint_eq(cuda.done, MANY + 1);
    for (uint64_t i = 2; i <= MANY + 1; i++) {
        ck_assert(read_one(&frame));
        ck_assert_uint_eq(frame, i);
    }
    check_reads();
    end();
}

VULKAN_TEST(cuda_reads_every_frame_of_vulkan, 3)
{
    begin(SLOTS, GR_SIDE_GRAPHICS, GR_RING_LOSSLESS, MOST, speeds[_i].cuda_ms);
    for (uint64_t i = 1; i <= MOST; i++) {
        write_one();
        if (i % 8 == 0 && speeds[_i].vulkan_ms > 0)
            sleep_ms(speeds[_i].vulkan_ms);
    }
    join_cuda();
    check_seen(true);
    assert_frames(cuda.ring, MOST, MOST, 0);
    end();
}

VULKAN_TEST(vulkan_reads_the_newest_frame_of_cuda, 3)
{
    begin(SLOTS, GR_SIDE_CUDA, GR_RING_NEWEST, MOST, speeds[_i].cuda_ms);
    uint64_t frame = 0, last = 0, reads = 0;
    while (last < MOST && read_one(&frame)) {
        ck_assert_uint_gt(frame, last);
        last = frame;
        reads++;
        if (speeds[_i].vulkan_ms > 0)
            sleep_ms(speeds[_i].vulkan_ms);
    }
    join_cuda();
    check_reads();
    assert_frames(cuda.ring, MOST, reads, MOST - reads);
    end();
}

VULKAN_TEST(cuda_reads_the_newest_frame_of_vulkan, 2)
{
    begin(SLOTS, GR_SIDE_GRAPHICS, GR_RING_NEWEST, MOST, speeds[_i].cuda_ms);
    for (uint64_t i = 1; i <= MOST; i++)
        write_one();
    gr_ring_stop(cuda.ring);
    join_cuda();
    check_seen(false);
    ck_assert_uint_eq(cuda.numbers[cuda.done - 1], MOST);
    assert_frames(cuda.ring, MOST, cuda.done, MOST - cuda.done);
    end();
}

GROUP("OpenGL and a thread", add_ring_case)

/* Like read_frame(), while the CUDA thread runs and may acquire the slot at once. */
static void read_beside(gr_ring *ring, uint64_t number)
{
    const gr_slot *slot;
    must_acquire_read(ring, producer, &slot, 1);
    ck_assert_uint_eq(slot->frame, number);
    assert_slot(slot, value_of(number));
    assert_ok(gr_ring_give_back(ring, &slot, 1));
}

/* OpenGL is on the main thread: with the shared transport the CUDA thread needs no context. */
TEST(opengl_and_cuda_exchange_frames_on_two_threads, 4)
{
    need_transport(1);
    const gr_slot *slot;
    producer = (gr_side)(_i % 2);
    start_cuda(must_make_ring_of(_i < 2 ? SLOTS : 3 * SLOTS, producer, GR_RING_LOSSLESS), MOST, 0);
    for (uint64_t i = 1; i <= MOST; i++) {
        if (producer == GR_SIDE_CUDA) {
            read_beside(cuda.ring, i);
        } else {
            must_acquire_write(cuda.ring, producer, &slot, 1);
            slot_fill(slot, value_of(i));
            assert_ok(gr_ring_hand_over(cuda.ring, &slot, 1));
        }
    }
    join_cuda();
    if (producer == GR_SIDE_GRAPHICS)
        check_seen(true);
    assert_frames(cuda.ring, MOST, MOST, 0);
    gr_ring_free(cuda.ring);
    CU(MemFree(cuda.copies));
}

/* The producer needs all slots at once. */
static void *produce_all(void *unused)
{
    const gr_slot *all[IN_FLIGHT];
    (void)unused;
    fx.cu->CtxSetCurrent(fx.context);
    if (gr_ring_acquire_write(cuda.ring, fx.stream, all, IN_FLIGHT, 20000) != GR_OK)
        failed("acquire");
    else if (gr_ring_hand_over(cuda.ring, all, IN_FLIGHT) != GR_OK)
        failed("publish");
    fx.cu->CtxSetCurrent(NULL);
    return NULL;
}

/* Catches: the producer waited until the next call of the OpenGL thread. */
TEST(slots_that_opengl_gave_back_are_free_for_other_threads)
{
    need_transport(1);
    const gr_slot *slot;
    memset(&cuda, 0, sizeof(cuda));
    cuda.ring = must_make_ring(IN_FLIGHT, NULL);
    write_frame(cuda.ring, GR_SIDE_CUDA, 1);
    read_frame(cuda.ring, GR_SIDE_CUDA, 1);
    ck_assert_int_eq(pthread_create(&cuda.thread, NULL, produce_all, NULL), 0);
    join_cuda();
    must_acquire_read(cuda.ring, GR_SIDE_CUDA, &slot, 1);
    ck_assert_uint_eq(slot->frame, 2);
    assert_slots(cuda.ring, 0, 0, IN_FLIGHT - 1, 1);
    gr_ring_free(cuda.ring);
}

/* The consumer gets its descriptor with or without a current context. */
TEST(an_opengl_consumer_polls_for_the_frames_of_a_thread, 2)
{
    need_transport(1);
    const gr_slot *slot;
    gr_status status = GR_ERR_NOT_READY;
    memset(&cuda, 0, sizeof(cuda));
    cuda.ring = must_make_ring(IN_FLIGHT, NULL);
    for (int i = 1; i < IN_FLIGHT / 2; i++) {
        write_frame(cuda.ring, GR_SIDE_CUDA, i);
        read_frame(cuda.ring, GR_SIDE_CUDA, i);
    }
    assert_ok(gr_egl_make_current(_i ? NULL : fx.egl));
    struct pollfd one = {.fd = gr_ring_descriptor(cuda.ring, GR_RING_CONSUMER), .events = POLLIN};
    ck_assert_int_ge(one.fd, 0);
    assert_ok(gr_egl_make_current(fx.egl));
    ck_assert_int_eq(pthread_create(&cuda.thread, NULL, produce_all, NULL), 0);
    while (status == GR_ERR_NOT_READY && poll(&one, 1, 10000) == 1)
        status = gr_ring_acquire_read(cuda.ring, GR_STREAM_NONE, &slot, 1, 0);
    assert_ok(status);
    gr_clear_error();
    join_cuda();
    ck_assert_uint_eq(slot->frame, IN_FLIGHT / 2);
    assert_slots(cuda.ring, 0, 0, IN_FLIGHT - 1, 1);
    gr_ring_free(cuda.ring);
}

GROUP("mid-flight", add_vulkan_case, add_copied_vulkan_case)

/* The CUDA thread waits for a slot or a frame that never comes. */
VULKAN_TEST(stopping_a_ring_ends_the_wait_of_the_cuda_thread, 2)
{
    begin(SLOTS, (gr_side)_i, GR_RING_LOSSLESS, MOST, 0);
    const gr_slot *slot;
    if (producer == GR_SIDE_GRAPHICS)
        write_one();
    else
        assert_ok(gr_ring_acquire_read(cuda.ring, GR_STREAM_NONE, &slot, 1, 20000));
    sleep_ms(30);
    gr_ring_stop(cuda.ring);
    join_cuda();
    ck_assert_uint_eq(cuda.done, producer == GR_SIDE_CUDA ? SLOTS : 1);
    ck_assert_uint_eq(gr_ring_get_info(cuda.ring)->written, cuda.done);
    if (producer == GR_SIDE_CUDA) {
        submit_read(&slot, 1, hosts, NULL);
        assert_ok(gr_ring_give_back(cuda.ring, &slot, 1));
        uint64_t frame = 1, reads = 1;
        while (read_one(&frame))
            ck_assert_uint_eq(frame, ++reads);
        ck_assert_uint_eq(reads, SLOTS);
        check_reads();
    } else {
        check_seen(true);
    }
    gr_clear_error();
    end();
}

static void resize(size_t n)
{
    gr_resource *fresh[8];
    for (size_t i = 0; i < n; i++) {
        fresh[i] = must_create(RING_SIZE, GR_READ_WRITE);
        assert_ok(gr_resource_set_sync(fresh[i], sync.acquire, sync.release));
    }
    assert_ok(gr_ring_resize(cuda.ring, fresh, n));
    free_resources(fresh, n);
}

/*
 * The buffer of a slot is destroyed after CUDA has waited for the last submit that used the slot.
 * The validation layer does not see this wait: it considers the submit pending until the host has
 * queried its fence or semaphore.
 */
VULKAN_TEST(slots_are_replaced_while_the_cuda_thread_runs, 2)
{
    if (vk.exports)
        vulkan_allow("VUID-vkDestroyBuffer-buffer-00922");
    begin(SLOTS, (gr_side)_i, GR_RING_LOSSLESS, MOST, 0);
    uint64_t frame = 0;
    for (uint64_t i = 1; i <= MOST; i++) {
        if (producer == GR_SIDE_CUDA) {
            ck_assert(read_one(&frame));
            ck_assert_uint_eq(frame, i);
        } else {
            write_one();
        }
        if (i % 20 == 0)
            resize(1 + i / 20 % 6);
    }
    join_cuda();
    check_reads();
    if (producer == GR_SIDE_GRAPHICS)
        check_seen(true);
    assert_frames(cuda.ring, MOST, MOST, 0);
    end();
}

/* The ring has unread frames, and work is pending on both sides. */
VULKAN_TEST(a_ring_with_frames_in_flight_can_be_freed, 2)
{
    begin(SLOTS, (gr_side)_i, GR_RING_LOSSLESS, MOST, 0);
    uint64_t frame;
    const gr_slot *slot;
    for (int i = 0; i < 10; i++)
        if (producer == GR_SIDE_CUDA)
            read_one(&frame);
        else
            write_one();
    gr_ring_stop(cuda.ring);
    join_cuda();
    check_reads();
    if (producer == GR_SIDE_CUDA)
        gr_ring_acquire_read(cuda.ring, GR_STREAM_NONE, &slot, 1, 20000);
    gr_clear_error();
    vulkan_finish();
    gr_ring_free(cuda.ring);
    CU(StreamSynchronize(fx.stream));
    CU(MemFree(cuda.copies));
    ring_sync_end(&sync);
}
