/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Rings by copy, of buffers and textures of the application or buffers of grinterop. */
#include "gl_copy_tests.h"

#include <grinterop/ring.h>

#include <string.h>

#include <epoxy/egl.h>

#define SLOTS 4

/*
 * The side of an RGBA8 texture; a buffer has the same number of bytes. If CUDA only writes, the CPU
 * copies SMALL objects, and LARGE ones are copied through mapped memory.
 */
enum { SMALL = 16, LARGE = 400, MOST_BYTES = LARGE * LARGE * 4 };

static size_t side;
#define SIZE (side * side * 4)

static void be_small(void)
{
    side = SMALL;
}

static void be_large(void)
{
    side = LARGE;
}

/* ---- Slots ----------------------------------------------------------------------------------- */

enum kind { OWN_BUFFERS, CREATED_BUFFERS, TEXTURES, KINDS };

static struct {
    enum kind kind;
    gr_resource *resources[SLOTS];
    GLuint names[SLOTS]; /* the OpenGL buffers of the slots */
    struct image images[SLOTS];
    CUdeviceptr scratch[SLOTS]; /* the bytes of texture copies while frames are in flight */
} set;

static void make_one(unsigned i, unsigned flags)
{
    switch (set.kind) {
    case OWN_BUFFERS:
        set.names[i] = gl_buffer_filled(SIZE, 0);
        set.resources[i] = must_copy(set.names[i], flags);
        break;
    case CREATED_BUFFERS:
        set.resources[i] = must_create_copy(SIZE, flags);
        set.names[i] = gr_gl_name(set.resources[i]);
        break;
    default:
        set.images[i] = image_make("RGBA8", "2D", (unsigned)side, (unsigned)side, 1);
        set.resources[i] = must_copy_image(&set.images[i], flags);
        break;
    }
}

static void gl_writes(unsigned index, int value)
{
    static unsigned char bytes[MOST_BYTES];
    memset(bytes, value, SIZE);
    if (set.kind == TEXTURES)
        glTextureSubImage2D(set.images[index].name, 0, 0, 0, (GLsizei)side, (GLsizei)side, GL_RGBA,
                            GL_UNSIGNED_BYTE, bytes);
    else
        gl_write(set.names[index], bytes, SIZE);
}

/* The slots have zeros. OpenGL writes them before the ring exists, which then orders its turns. */
static gr_ring *make_ring(enum kind kind, gr_side producer, unsigned flags)
{
    memset(&set, 0, sizeof(set));
    set.kind = kind;
    for (unsigned i = 0; i < SLOTS; i++) {
        make_one(i, flags);
        gl_writes(i, 0);
        CU(MemAlloc(&set.scratch[i], SIZE));
    }
    return must_make(
        gr_ring_create(set.resources, SLOTS, &GR_INIT(gr_ring_options, .producer = producer)));
}

/* Frees the resources, which the ring keeps alive. */
static void let_go(void)
{
    free_resources(set.resources, SLOTS);
}

static void end(gr_ring *ring)
{
    gr_ring_free(ring);
    let_go();
    for (unsigned i = 0; i < SLOTS; i++)
        CU(MemFree(set.scratch[i]));
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

static CUDA_MEMCPY3D whole_image(gr_buffer *buffer, unsigned index, bool to_image)
{
    CUDA_MEMCPY3D copy = {.WidthInBytes = side * 4, .Height = side, .Depth = 1};
    CUarray array = gr_buffer_array(buffer, 0, 0);
    ck_assert_ptr_nonnull(array);
    copy.srcMemoryType = to_image ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_ARRAY;
    copy.dstMemoryType = to_image ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_DEVICE;
    copy.srcArray = to_image ? NULL : array;
    copy.dstArray = to_image ? array : NULL;
    copy.srcDevice = copy.dstDevice = set.scratch[index];
    copy.srcPitch = copy.dstPitch = side * 4;
    return copy;
}

/* Writes the value in stream order. */
static void cuda_writes(const gr_slot *slot, int value)
{
    if (set.kind != TEXTURES) {
        CU(MemsetD8Async(gr_buffer_ptr(slot->buffer), (unsigned char)value, SIZE, fx.stream));
        return;
    }
    CUDA_MEMCPY3D copy = whole_image(slot->buffer, slot->index, true);
    CU(MemsetD8Async(set.scratch[slot->index], (unsigned char)value, SIZE, fx.stream));
    CU(Memcpy3DAsync(&copy, fx.stream));
}

static void assert_cuda_reads(const gr_slot *slot, int value)
{
    static unsigned char bytes[MOST_BYTES];
    CUdeviceptr from =
        set.kind == TEXTURES ? set.scratch[slot->index] : gr_buffer_ptr(slot->buffer);
    if (set.kind == TEXTURES) {
        CUDA_MEMCPY3D copy = whole_image(slot->buffer, slot->index, false);
        CU(Memcpy3DAsync(&copy, fx.stream));
    }
    cuda_read(bytes, from, SIZE, fx.stream);
    assert_bytes(bytes, SIZE, value & 255);
}

static void assert_gl_reads(unsigned index, int value)
{
    static unsigned char bytes[MOST_BYTES];
    memset(bytes, 0, SIZE);
    if (set.kind == TEXTURES)
        glGetTextureImage(set.images[index].name, 0, GL_RGBA, GL_UNSIGNED_BYTE, (GLsizei)SIZE,
                          bytes);
    else
        gl_read(set.names[index], bytes, SIZE);
    assert_bytes(bytes, SIZE, value & 255);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static void cuda_publishes(gr_ring *ring, int value)
{
    const gr_slot *slot;
    assert_ok(gr_ring_acquire_write(ring, fx.stream, &slot, 1, 0));
    cuda_writes(slot, value);
    assert_ok(gr_ring_hand_over(ring, &slot, 1));
}

static void gl_takes(gr_ring *ring, int value)
{
    const gr_slot *slot;
    assert_ok(gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, 0));
    assert_gl_reads(slot->index, value);
    assert_ok(gr_ring_give_back(ring, &slot, 1));
}

static void gl_publishes(gr_ring *ring, int value)
{
    const gr_slot *slot;
    assert_ok(gr_ring_acquire_write(ring, GR_STREAM_NONE, &slot, 1, 0));
    gl_writes(slot->index, value);
    assert_ok(gr_ring_hand_over(ring, &slot, 1));
}

static void cuda_takes(gr_ring *ring, int value)
{
    const gr_slot *slot;
    assert_ok(gr_ring_acquire_read(ring, fx.stream, &slot, 1, 0));
    assert_cuda_reads(slot, value);
    assert_ok(gr_ring_give_back(ring, &slot, 1));
}

#define CASE_OF_SIDE(name, add, be)                                                                \
    static TCase *name(Suite *suite, const char *text)                                             \
    {                                                                                              \
        return with_fixture(add(suite, text), be, NULL);                                           \
    }
CASE_OF_SIDE(add_few_case, add_copy_case, be_small)
CASE_OF_SIDE(add_few_mesa_case, add_mesa_copy_case, be_small)
CASE_OF_SIDE(add_few_pinned_case, add_pinned_copy_case, be_small)
CASE_OF_SIDE(add_few_peer_case, add_peer_copy_case, be_small)
CASE_OF_SIDE(add_much_case, add_copy_case, be_large)
CASE_OF_SIDE(add_much_mesa_case, add_mesa_copy_case, be_large)
CASE_OF_SIDE(add_much_pinned_case, add_pinned_copy_case, be_large)

/* With pinned memory the size makes no difference, so there is no small case. */
GROUP("rings by copy, CUDA writes", add_few_case, add_few_mesa_case, add_few_peer_case,
      add_much_case, add_much_mesa_case, add_much_pinned_case)

/* Without semaphores between OpenGL and CUDA, as on Mesa, the releases by peer wait. */
static bool release_waits(enum kind kind)
{
    return kind == TEXTURES && image_options()->transports & GR_TRANSPORT_PEER &&
           strstr(must_make(gr_gl_probe(GR_TRANSPORT_SHARED))->reason, "host waits");
}

COPY_TEST(four_frames_are_in_flight_without_a_wait, KINDS)
{
    if (release_waits((enum kind)_i))
        skip("OpenGL has no semaphores here");
    gr_ring *ring = make_ring((enum kind)_i, GR_SIDE_CUDA, GR_WRITE_DISCARD);
    for (int round = 0; round < 3; round++) {
        /* opens late: a call that waits is detected, but still ends */
        struct gate *gate = gate_open_after(gate_put(fx.stream), 2000);
        for (int i = 0; i < SLOTS; i++)
            cuda_publishes(ring, 10 * round + i + 1);
        ck_assert_msg(!gate_is_open(gate), "a release has waited for the stream");
        gate_open(gate);
        for (int i = 0; i < SLOTS; i++)
            gl_takes(ring, 10 * round + i + 1);
    }
    end(ring);
}

COPY_TEST(the_consumer_waits_for_its_frame, KINDS)
{
    gr_ring *ring = make_ring((enum kind)_i, GR_SIDE_CUDA, GR_WRITE_DISCARD);
    /* by peer, without semaphores, the producer waits */
    struct gate *gate = gate_open_after(gate_put(fx.stream), 30);
    cuda_publishes(ring, 7);
    gl_takes(ring, 7);
    ck_assert(gate_is_open(gate));
    end(ring);
}

/* The producer continues while the consumer is three frames behind. */
COPY_TEST(a_hundred_frames_arrive_in_order_with_four_in_flight, KINDS)
{
    gr_ring *ring = make_ring((enum kind)_i, GR_SIDE_CUDA, GR_WRITE_DISCARD);
    let_go();
    memset(set.resources, 0, sizeof(set.resources));
    for (int frame = 0; frame < 100; frame++) {
        cuda_publishes(ring, frame);
        if (frame >= SLOTS - 1)
            gl_takes(ring, frame - SLOTS + 1);
    }
    end(ring);
}

/* CUDA reads the bytes last written to the slot, even if OpenGL acquired the slot in between. */
COPY_TEST(read_write_slots_keep_their_bytes, KINDS)
{
    int last[SLOTS] = {0};
    gr_ring *ring = make_ring((enum kind)_i, GR_SIDE_CUDA, GR_READ_WRITE);
    for (int frame = 1; frame <= 20; frame++) {
        const gr_slot *slot;
        assert_ok(gr_ring_acquire_write(ring, fx.stream, &slot, 1, 0));
        assert_cuda_reads(slot, last[slot->index]);
        cuda_writes(slot, last[slot->index] = frame);
        if (frame % 3 == 0) {
            assert_ok(gr_ring_cancel_write(ring, &slot, 1));
            continue;
        }
        assert_ok(gr_ring_hand_over(ring, &slot, 1));
        gl_takes(ring, frame);
    }
    end(ring);
}

COPY_TEST(a_frame_whose_read_was_cancelled_is_read_again, KINDS)
{
    const gr_slot *slot;
    gr_ring *ring = make_ring((enum kind)_i, GR_SIDE_CUDA, GR_WRITE_DISCARD);
    cuda_publishes(ring, 5);
    assert_ok(gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, 0));
    assert_ok(gr_ring_cancel_read(ring, &slot, 1));
    gl_takes(ring, 5);
    end(ring);
}

/* ---- OpenGL refuses -------------------------------------------------------------------------- */

/* After an OpenGL error the frame is unchanged, and the next acquire returns it. */
COPY_TEST(a_frame_whose_copy_failed_is_acquired_later, 2)
{
    const gr_slot *slot;
    if (_i && image_options()->transports & GR_TRANSPORT_PEER)
        skip("by peer the release copies, not the acquire");
    gr_ring *ring = make_ring(_i ? TEXTURES : OWN_BUFFERS, GR_SIDE_CUDA, GR_WRITE_DISCARD);
    cuda_publishes(ring, 5);
    opengl_refuses_data(true);
    gr_status status = gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, 0);
    opengl_refuses_data(false);
    ck_assert_int_eq(status, GR_ERR_GL);
    assert_error(GR_ERR_GL, GL_INVALID_ENUM, "take back");
    gl_takes(ring, 5);
    end(ring);
}

/* ---- Frames that were not consumed ----------------------------------------------------------- */

/* The objects belong to the application, so they must also receive frames that nothing read. */
COPY_TEST(unread_frames_reach_their_objects_when_the_ring_ends, 2)
{
    for (int held = 0; held < 2; held++) {
        gr_ring *ring = make_ring(_i ? TEXTURES : OWN_BUFFERS, GR_SIDE_CUDA, GR_WRITE_DISCARD);
        if (!held)
            let_go();
        for (int i = 0; i < SLOTS; i++)
            cuda_publishes(ring, i + 1);
        gr_ring_free(ring);
        for (unsigned i = 0; i < SLOTS; i++)
            assert_gl_reads(i, (int)i + 1);
        if (held)
            let_go();
        for (unsigned i = 0; i < SLOTS; i++)
            CU(MemFree(set.scratch[i]));
    }
}

static void free_without_context(gr_ring *ring)
{
    EGLDisplay display = eglGetCurrentDisplay();
    EGLContext context = eglGetCurrentContext();
    assert_ok(gr_egl_make_current(NULL));
    gr_ring_free(ring);
    ck_assert(eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context));
}

static void write_part(gr_resource *resource, size_t offset, size_t size, int value)
{
    gr_buffer *buffer = NULL;
    const gr_map_options part = GR_INIT(gr_map_options, .offset = offset, .size = size);
    assert_ok(gr_map_many(&resource, 1, fx.stream, &part, &buffer));
    CU(MemsetD8Async(gr_buffer_ptr(buffer), (unsigned char)value, size, fx.stream));
    assert_ok(gr_buffer_release(buffer));
}

/* The copy transport keeps those bytes of the frame that are outside the mapped part. */
COPY_TEST(mapping_a_part_after_the_ring_keeps_the_frame, 2)
{
    static unsigned char bytes[MOST_BYTES];
    const size_t part = SIZE / 4;
    gr_ring *ring = make_ring(_i ? CREATED_BUFFERS : OWN_BUFFERS, GR_SIDE_CUDA, GR_WRITE_DISCARD);
    for (int i = 0; i < SLOTS; i++)
        cuda_publishes(ring, i + 1);
    free_without_context(ring);
    for (unsigned i = 0; i < SLOTS; i++) {
        memset(bytes, 0, SIZE);
        write_part(set.resources[i], SIZE / 2, part, 0x77);
        gl_read(set.names[i], bytes, SIZE);
        assert_bytes(bytes, SIZE / 2, (int)i + 1);
        assert_bytes(bytes + SIZE / 2, part, 0x77);
        assert_bytes(bytes + SIZE / 2 + part, SIZE / 2 - part, (int)i + 1);
    }
    end(NULL);
}

/*
 * Only objects that the application created: if grinterop created a buffer, CUDA can write to its
 * storage until the resource ends.
 */
COPY_TEST(a_slot_whose_object_was_deleted_cannot_be_written, 2)
{
    const gr_slot *slot;
    gr_ring *ring = make_ring(_i ? TEXTURES : OWN_BUFFERS, GR_SIDE_CUDA, GR_WRITE_DISCARD);
    cuda_publishes(ring, 1);
    for (unsigned i = 0; i < SLOTS; i++)
        if (set.kind == TEXTURES)
            image_delete(&set.images[i]);
        else
            glDeleteBuffers(1, &set.names[i]);
    assert_ok(gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, 0));
    assert_ok(gr_ring_give_back(ring, &slot, 1));
    assert_fails(gr_ring_acquire_write(ring, fx.stream, &slot, 1, 0), GR_ERR_STATE, 0, "deleted");
    end(ring);
}

GROUP("rings by copy, OpenGL writes", add_few_case, add_few_mesa_case, add_few_peer_case,
      add_few_pinned_case)

COPY_TEST(four_frames_written_by_opengl_arrive_in_cuda, KINDS)
{
    gr_ring *ring = make_ring((enum kind)_i, GR_SIDE_GRAPHICS, GR_READ_ONLY);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < SLOTS; i++)
            gl_publishes(ring, 10 * round + i + 1);
        for (int i = 0; i < SLOTS; i++)
            cuda_takes(ring, 10 * round + i + 1);
    }
    end(ring);
}

/* OpenGL writes the next frames while the stream is blocked. Each mapping keeps its frame. */
COPY_TEST(frames_that_cuda_reads_late_keep_their_bytes, KINDS)
{
    unsigned char *got = NULL;
    const gr_slot *slot;
    gr_ring *ring = make_ring((enum kind)_i, GR_SIDE_GRAPHICS, GR_READ_ONLY);
    CU(MemAllocHost((void **)&got, 2 * SLOTS * SIZE));
    /* opens late: a call that waits is detected, but still ends */
    struct gate *gate = gate_open_after(gate_put(fx.stream), 2000);
    for (int i = 0; i < 2 * SLOTS; i++) {
        gl_publishes(ring, i + 1);
        assert_ok(gr_ring_acquire_read(ring, fx.stream, &slot, 1, 0));
        CUdeviceptr from =
            set.kind == TEXTURES ? set.scratch[slot->index] : gr_buffer_ptr(slot->buffer);
        if (set.kind == TEXTURES) {
            CUDA_MEMCPY3D copy = whole_image(slot->buffer, slot->index, false);
            CU(Memcpy3DAsync(&copy, fx.stream));
        }
        CU(MemcpyDtoHAsync(got + (size_t)i * SIZE, from, SIZE, fx.stream));
        assert_ok(gr_ring_give_back(ring, &slot, 1));
    }
    ck_assert_msg(!gate_is_open(gate), "a frame has waited for the stream");
    gate_open(gate);
    CU(StreamSynchronize(fx.stream));
    for (int i = 0; i < 2 * SLOTS; i++)
        assert_bytes(got + (size_t)i * SIZE, SIZE, i + 1);
    CU(MemFreeHost(got));
    end(ring);
}

/*
 * Data that was fetched for an unread frame must not be visible to a map after the end of the ring.
 */
COPY_TEST(maps_after_the_ring_read_the_current_bytes, KINDS)
{
    const gr_slot *slot;
    gr_ring *ring = make_ring((enum kind)_i, GR_SIDE_GRAPHICS, GR_READ_ONLY);
    gl_publishes(ring, 1);
    assert_ok(gr_ring_acquire_read(ring, fx.stream, &slot, 1, 0));
    assert_cuda_reads(slot, 1);
    assert_ok(gr_ring_cancel_read(ring, &slot, 1));
    cuda_takes(ring, 1);
    for (int i = 0; i < SLOTS; i++)
        gl_publishes(ring, i + 2);
    gr_ring_free(ring);
    for (unsigned i = 0; i < SLOTS; i++) {
        gl_writes(i, 0x77);
        gr_buffer *buffer =
            set.kind == TEXTURES ? must_map_image(set.resources[i]) : must_map(set.resources[i]);
        const gr_slot mapped = {.buffer = buffer, .index = i};
        assert_cuda_reads(&mapped, 0x77);
        assert_ok(gr_buffer_release(buffer));
    }
    end(NULL);
}

/* With pinned memory the library fetches nothing ahead, so there is no pinned case. */
GROUP("rings by copy, fetched ahead", add_few_case, add_few_mesa_case, add_few_peer_case)

/* gr_ring_hand_over() fetches the frame ahead, with the checks of a map that reads. */
COPY_TEST(a_frame_that_cannot_be_fetched_is_not_handed_over)
{
    const gr_slot *slot;
    gr_ring *ring = make_ring(OWN_BUFFERS, GR_SIDE_GRAPHICS, GR_READ_ONLY);
    assert_ok(gr_ring_acquire_write(ring, GR_STREAM_NONE, &slot, 1, 0));
    gl_writes(slot->index, 1);
    glBindBuffer(GL_COPY_WRITE_BUFFER, set.names[slot->index]);
    ck_assert_ptr_nonnull(glMapBuffer(GL_COPY_WRITE_BUFFER, GL_WRITE_ONLY));
    ck_assert_int_eq(gr_ring_hand_over(ring, &slot, 1), GR_ERR_STATE);
    ck_assert_str_eq(gr_last_error()->call, "gr_ring_hand_over");
    assert_error(GR_ERR_STATE, 0, "glMapBuffer");
    ck_assert(glUnmapBuffer(GL_COPY_WRITE_BUFFER));
    glBufferData(GL_COPY_WRITE_BUFFER, SIZE / 2, NULL, GL_STATIC_DRAW);
    assert_fails(gr_ring_hand_over(ring, &slot, 1), GR_ERR_STATE, 0,
                 "storage has since been replaced");
    glBufferData(GL_COPY_WRITE_BUFFER, SIZE, NULL, GL_STATIC_DRAW);
    gl_writes(slot->index, 2);
    assert_ok(gr_ring_hand_over(ring, &slot, 1));
    cuda_takes(ring, 2);
    end(ring);
}
