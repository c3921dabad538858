/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Long sequences of frames whose contents depend on their numbers: no frame is lost, repeated or
 * read early. GR_TEST_FRAMES sets the number of frames: a million takes about half a minute in each
 * direction, by interop on the software driver.
 */
#define _GNU_SOURCE
#include "tests/support/allocations.h"
#include "ring.h"

#include <stdlib.h>

#define WORDS 4
#define BYTES (WORDS * sizeof(uint32_t))
#define BATCH 64

static const gr_side sides[] = {GR_SIDE_CUDA, GR_SIDE_GRAPHICS};

/*
 * Fewer frames for copies and for blocking waits, which take longer, and for interop between two
 * GPUs, which takes 0.4 ms per frame and more.
 */
static uint64_t frames_to_run(int transport)
{
    const char *text = getenv("GR_TEST_FRAMES");
    if (text && text[0] != '\0')
        return strtoull(text, NULL, 10);
    bool apart = fixture_cuda_device() != fixture_drawing_device();
    return sanitizer() || transport > 0 || apart ? 10000 : 100000;
}

/* The contents of a frame: a word that differs from frame to frame. */
static uint32_t word_of(uint64_t frame)
{
    return (uint32_t)frame * 2654435761u + 12345u;
}

/* A checksum that depends on the order of the frames. */
static uint64_t add_to_sum(uint64_t sum, uint32_t word)
{
    return (sum ^ word) * 0x100000001B3u;
}

/* ---- Both sides ------------------------------------------------------------------------------ */

/* The reader copies a group of frames to here, so that it waits only once per group. */
static struct {
    GLuint gl;
    CUdeviceptr cuda;
    uint32_t words[BATCH][WORDS];
} collected;

static void begin_collecting(void)
{
    collected.gl = gl_buffer_filled(sizeof(collected.words), 0);
    CU(MemAlloc(&collected.cuda, sizeof(collected.words)));
}

static void end_collecting(void)
{
    CU(MemFree(collected.cuda));
}

static void write_word(const gr_slot *slot, uint32_t word)
{
    uint32_t words[WORDS] = {word, word, word, word};
    if (slot->buffer) {
        CU(MemsetD32Async(gr_buffer_ptr(slot->buffer), word, WORDS, fx.stream));
        return;
    }
    gl_write(ring_name(slot->resource), words, BYTES);
}

static void collect(const gr_slot *slot, size_t at)
{
    if (slot->buffer) {
        CU(MemcpyDtoDAsync(collected.cuda + at * BYTES, gr_buffer_ptr(slot->buffer), BYTES,
                           fx.stream));
        return;
    }
    glBindBuffer(GL_COPY_READ_BUFFER, ring_name(slot->resource));
    glBindBuffer(GL_COPY_WRITE_BUFFER, collected.gl);
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, (GLintptr)(at * BYTES),
                        BYTES);
}

static void fetch(gr_side producer, size_t n)
{
    if (producer == GR_SIDE_CUDA) {
        glBindBuffer(GL_COPY_READ_BUFFER, collected.gl);
        glGetBufferSubData(GL_COPY_READ_BUFFER, 0, (GLsizeiptr)(n * BYTES), collected.words);
    } else {
        cuda_read(collected.words, collected.cuda, n * BYTES, fx.stream);
    }
}

static void write_group(gr_ring *ring, gr_side producer, size_t n)
{
    const gr_slot *slots[BATCH];
    must_acquire_write(ring, producer, slots, n);
    for (size_t i = 0; i < n; i++)
        write_word(slots[i], word_of(slots[i]->frame));
    assert_ok(gr_ring_hand_over(ring, slots, n));
}

/* Reads n frames. The first is frame `next`, or a later one if frames may be dropped. */
static uint64_t read_group(gr_ring *ring, gr_side producer, size_t n, uint64_t next, uint64_t sum)
{
    const gr_slot *slots[BATCH];
    must_acquire_read(ring, producer, slots, n);
    for (size_t i = 0; i < n; i++)
        collect(slots[i], i);
    fetch(producer, n);
    for (size_t i = 0; i < n; i++) {
        ck_assert_uint_eq(slots[i]->frame, next + i);
        for (int word = 0; word < WORDS; word++)
            ck_assert_uint_eq(collected.words[i][word], word_of(next + i));
        sum = add_to_sum(sum, collected.words[i][0]);
    }
    assert_ok(gr_ring_give_back(ring, slots, n));
    return sum;
}

GROUP("sequences", add_ring_case)

static gr_ring *make(size_t n, gr_side producer, gr_ring_mode mode)
{
    gr_ring_options options = GR_INIT(gr_ring_options, .producer = producer, .mode = mode);
    gr_resource *const *resources = ring_resources(n, BYTES);
    gr_ring *ring = must_make(gr_ring_create(resources, n, &options));
    free_resources(resources, n);
    return ring;
}

TEST(frames_in_groups_arrive_in_order, 2 * RING_TRANSPORTS)
{
    need_transport(_i / 2);
    gr_side producer = sides[_i % 2];
    uint64_t frames = frames_to_run(_i / 2) / BATCH * BATCH, sum = 0, wanted = 0;
    GR_AUTO(gr_ring) *ring = make(2 * BATCH, producer, GR_RING_LOSSLESS);
    begin_collecting();
    write_group(ring, producer, BATCH);
    for (uint64_t next = 1; next <= frames; next += BATCH) {
        if (next + BATCH <= frames)
            write_group(ring, producer, BATCH);
        sum = read_group(ring, producer, BATCH, next, sum);
    }
    for (uint64_t frame = 1; frame <= frames; frame++)
        wanted = add_to_sum(wanted, word_of(frame));
    ck_assert_uint_eq(sum, wanted);
    assert_frames(ring, frames, frames, 0);
    end_collecting();
}

/* The producer is as many frames ahead as there are slots. */
TEST(single_frames_arrive_in_order, 2 * RING_TRANSPORTS)
{
    need_transport(_i / 2);
    gr_side producer = sides[_i % 2];
    uint64_t frames = frames_to_run(_i / 2) / 50, sum = 0, wanted = 0, written = 0;
    GR_AUTO(gr_ring) *ring = make(7, producer, GR_RING_LOSSLESS);
    begin_collecting();
    for (uint64_t next = 1; next <= frames; next++) {
        for (; written < frames && written < next + 5; written++)
            write_group(ring, producer, 1);
        sum = read_group(ring, producer, 1, next, sum);
        wanted = add_to_sum(wanted, word_of(next));
    }
    ck_assert_uint_eq(sum, wanted);
    assert_frames(ring, frames, frames, 0);
    end_collecting();
}

/* The reader reads after every 1 to 6 frames, and must get the newest frame each time. */
static void read_the_newest(gr_side producer, uint64_t frames)
{
    uint64_t written = 0, read = 0;
    GR_AUTO(gr_ring) *ring = make(3, producer, GR_RING_NEWEST);
    begin_collecting();
    for (; written < frames; read++) {
        for (uint64_t i = 0; i <= read * 7 % 6; i++, written++)
            write_group(ring, producer, 1);
        read_group(ring, producer, 1, written, 0);
    }
    assert_frames(ring, written, read, written - read);
    end_collecting();
}

TEST(newest_only_readers_get_the_newest_frame, 2 * RING_TRANSPORTS)
{
    need_transport(_i / 2);
    read_the_newest(sides[_i % 2], frames_to_run(_i / 2) / 50);
}

/* ---- Other processes on the same GPU --------------------------------------------------------- */

#define CROWD 6

/* One of several processes that use the GPU at the same time. */
CHILD(frames_in_one_of_many_processes)
{
    fixture_setup();
    if (!ring_use_transport(1))
        read_the_newest(GR_SIDE_CUDA, gr_cuda_is_software() ? 500 : 8000);
    fx.fds = -1;
    fixture_teardown();
    return 0;
}

/*
 * While several processes use the GPU, the GPU switches between them within a frame.
 *
 * Catches: without a memory barrier before the signal, OpenGL sometimes missed the last writes of
 * CUDA. The software driver detects the missing barrier, too.
 */
TEST(frames_arrive_while_other_processes_use_the_gpu)
{
    struct child_process crowd[CROWD];
    char text[4096];
    need_transport(1);
    for (int i = 0; i < CROWD; i++)
        crowd[i] = child_start("frames_in_one_of_many_processes");
    for (int i = 0; i < CROWD; i++) {
        int status = child_end(&crowd[i], text, sizeof(text));
        ck_assert_msg(status == 0, "process %d ended with 0x%x: %.3500s", i, (unsigned)status,
                      text);
    }
}

GROUP("steady", add_ring_case)

TEST(frames_allocate_no_memory, 2 * RING_TRANSPORTS)
{
    need_transport(_i / 2);
    gr_side producer = sides[_i % 2];
    need_counting();
    GR_AUTO(gr_ring) *ring = make(8, producer, GR_RING_LOSSLESS);
    GR_AUTO(gr_ring) *newest = make(3, producer, GR_RING_NEWEST);
    begin_collecting();
    write_group(ring, producer, 8);
    read_group(ring, producer, 8, 1, 0);
    start_counting();
    for (uint64_t i = 0; i < 500; i++) {
        write_group(ring, producer, 4);
        read_group(ring, producer, 4, 9 + 4 * i, 0);
        write_group(newest, producer, 2);
        write_group(newest, producer, 2);
        read_group(newest, producer, 1, 4 * i + 4, 0);
        const gr_slot *none[8];
        ck_assert_int_eq(gr_ring_acquire_read(ring, ring_stream(producer, false), none, 8, 0),
                         GR_ERR_NOT_READY);
    }
    ck_assert_uint_eq(allocations, 0);
    gr_clear_error();
    end_collecting();
}

static gr_side life_of;
static GLuint life_names[5];

/* The life of a ring: created, used, resized and freed with a frame in flight. */
static void life(GLuint name)
{
    (void)name;
    gr_resource *resources[5];
    for (int i = 0; i < 5; i++)
        resources[i] = must_register(life_names[i]);
    GR_AUTO(gr_ring) *ring =
        must_make(gr_ring_create(resources, 3, &GR_INIT(gr_ring_options, .producer = life_of)));
    write_group(ring, life_of, 2);
    const gr_slot *slot;
    must_acquire_read(ring, life_of, &slot, 1);
    assert_ok(gr_ring_resize(ring, resources + 3, 2));
    free_resources(resources, 5);
    assert_ok(gr_ring_give_back(ring, &slot, 1));
}

/*
 * How often life() runs. Between two GPUs the driver takes 10 ms or more to register each of the
 * five resources.
 */
static int lives(void)
{
    if (fixture_cuda_device() != fixture_drawing_device())
        return 50;
    return sanitizer() ? 100 : 1000;
}

TEST(creating_and_freeing_rings_leaks_nothing, 2)
{
    life_of = sides[_i];
    for (int i = 0; i < 5; i++)
        life_names[i] = gl_buffer_filled(BYTES, 0);
    assert_steady(life, 0, lives());
}
