/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The host memory of a copy is a buffer that OpenGL keeps mapped, the storage of a buffer that
 * grinterop creates, or pinned CUDA memory. Tests which of these is chosen, and how its use ends.
 */
#include "gl_copy_tests.h"

#include <string.h>

#define SIZE 4096

/* Up to this size the CPU copies objects that CUDA only writes. */
#define LIMIT ((size_t)256 << 10)

/* Up to this size CUDA writes directly into the storage of created buffers. */
#define MOST_IN_PLACE ((size_t)1 << 20)

#define REGISTER   "cuMemHostRegister"
#define UNREGISTER "cuMemHostUnregister"
#define PINNED     "cuMemAllocHost"

GROUP("host memory of copies", add_copy_case, add_mesa_copy_case)

COPY_TEST(copies_use_a_buffer_that_opengl_keeps_mapped)
{
    GR_AUTO(gr_resource) *resource = must_copy(gl_buffer_pattern(SIZE, 1), GR_READ_WRITE);
    assert_described(resource, "transport copy, through a buffer that OpenGL has mapped");
    assert_calls(REGISTER, 1);
    assert_calls(PINNED, 0);
    struct image image = image_make("RGBA8", "2D", 8, 8, 2);
    GR_AUTO(gr_resource) *texture = must_copy_image(&image, GR_READ_ONLY);
    assert_described(texture, "transport copy, through a buffer that OpenGL has mapped");
    assert_calls(REGISTER, 2);
    assert_calls(PINNED, 0);
}

COPY_TEST(pinned_memory_is_used_if_cuda_refuses_the_mapping)
{
    refuse_mapping();
    GR_AUTO(gr_resource) *resource = must_copy(gl_buffer_pattern(SIZE, 1), GR_READ_WRITE);
    assert_described(resource, "transport copy, through pinned host memory, since "
                               "cuMemHostRegister refused the memory that OpenGL has mapped: "
                               "CUDA_ERROR_NOT_SUPPORTED");
    assert_calls(PINNED, 1);
    assert_mapped(resource, 1);
    assert_ok(gr_resource_close(resource, GR_STREAM_OF_MAP));
    assert_calls(UNREGISTER, 0);
}

/*
 * The storage of the buffer is used only if CUDA writes: if CUDA only reads, OpenGL may overwrite
 * the storage before CUDA has finished.
 */
COPY_TEST(created_buffers_of_up_to_1_mib_that_cuda_writes_use_their_own_storage)
{
    GR_AUTO(gr_resource) *writer = must_create_copy(MOST_IN_PLACE, GR_WRITE_DISCARD);
    assert_described(writer, "transport copy, into its own storage, which OpenGL has mapped");
    GR_AUTO(gr_resource) *large = must_create_copy(MOST_IN_PLACE + 1, GR_WRITE_DISCARD);
    assert_described(large, "transport copy, through a buffer that OpenGL has mapped");
    GR_AUTO(gr_resource) *reader = must_create_copy(SIZE, GR_READ_ONLY);
    assert_described(reader, "transport copy, through a buffer that OpenGL has mapped");
    refuse_mapping();
    GR_AUTO(gr_resource) *other = must_create_copy(SIZE, GR_READ_WRITE);
    assert_described(other, "transport copy, through a buffer that OpenGL has mapped");
    write_mapped(other, 3);
    assert_gl_pattern(gr_gl_name(other), SIZE, 3);
}

/* ---- By the CPU or through mapped memory ----------------------------------------------------- */

static const char BY_PROCESSOR[] = "copy, through pinned host memory, since up to 256 KiB the "
                                   "CPU copy is faster",
                  BY_MAPPED[] = "copy, through a buffer that OpenGL has mapped",
                  IN_PLACE[] = "copy, into its own storage, which OpenGL has mapped";

static void assert_writes(gr_resource *resource, const char *way, unsigned registrations)
{
    const size_t size = gr_resource_get_info(resource)->size;
    assert_described(resource, way);
    assert_calls(REGISTER, registrations);
    assert_calls(PINNED, !registrations);
    for (unsigned round = 1; round < 4; round++) {
        write_mapped(resource, round);
        assert_gl_pattern(gr_gl_name(resource), size, round);
    }
}

COPY_TEST(buffers_up_to_the_limit_are_copied_by_the_cpu)
{
    static const size_t sizes[] = {1, 3, 4096, LIMIT - 1, LIMIT, LIMIT + 1, LIMIT + 4096};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        const bool few = sizes[i] <= LIMIT;
        fault->reset();
        GR_AUTO(gr_resource) *own = must_copy(gl_buffer_filled(sizes[i], 0), GR_WRITE_DISCARD);
        assert_writes(own, few ? BY_PROCESSOR : BY_MAPPED, !few);
        fault->reset();
        GR_AUTO(gr_resource) *created = must_create_copy(sizes[i], GR_WRITE_DISCARD);
        assert_writes(created, few ? BY_PROCESSOR : IN_PLACE, !few);
        GLint storage = 0;
        glGetNamedBufferParameteriv(gr_gl_name(created), GL_BUFFER_STORAGE_FLAGS, &storage);
        ck_assert_int_eq(!(storage & GL_MAP_PERSISTENT_BIT), few);
    }
}

/*
 * The CPU cannot write to immutable storage. It writes to another OpenGL buffer, which is then
 * copied.
 */
COPY_TEST(small_immutable_buffers_are_written_through_another_buffer)
{
    static const size_t sizes[] = {LIMIT, LIMIT + 1};
    for (size_t i = 0; i < 2; i++) {
        GLuint name = 0;
        glCreateBuffers(1, &name);
        glNamedBufferStorage(name, (GLsizeiptr)sizes[i], NULL, 0);
        fault->reset();
        GR_AUTO(gr_resource) *resource = must_copy(name, GR_WRITE_DISCARD);
        assert_writes(resource, i == 0 ? BY_PROCESSOR : BY_MAPPED, i != 0);
        glDeleteBuffers(1, &name);
    }
}

/*
 * A map that reads waits for OpenGL in any case, whether the CPU copies or mapped memory is used.
 */
COPY_TEST(buffers_that_cuda_reads_use_mapped_memory)
{
    static const unsigned flags[] = {GR_READ_ONLY, GR_READ_WRITE};
    for (size_t i = 0; i < 2; i++) {
        GR_AUTO(gr_resource) *resource = must_copy(gl_buffer_pattern(SIZE, 5), flags[i]);
        assert_described(resource, BY_MAPPED);
        assert_mapped(resource, 5);
    }
}

/* ---- Flushes --------------------------------------------------------------------------------- */

static unsigned flushes;
static __typeof__(epoxy_glFlush) real_flush;

static void EPOXY_CALLSPEC count_flush(void)
{
    flushes++;
    real_flush();
}

/*
 * On a GPU that both APIs use, a flush while CUDA works would cause a context switch in each frame.
 * For a large copy the switch is worth it, because OpenGL can work in the meantime.
 */
COPY_TEST(only_large_writes_flush_opengl)
{
    static const size_t sizes[] = {LIMIT, LIMIT + 1};
    glFlush(); /* epoxy resolves glFlush now, so that its pointer can be replaced */
    for (size_t i = 0; i < 2; i++) {
        GR_AUTO(gr_resource) *resource = must_copy(gl_buffer_filled(sizes[i], 0), GR_WRITE_DISCARD);
        gr_buffer *buffer = must_map(resource);
        struct gate *gate = gate_open_after(gate_put(fx.stream), 30);
        real_flush = epoxy_glFlush;
        flushes = 0;
        epoxy_glFlush = count_flush;
        gr_status status = gr_buffer_release(buffer);
        epoxy_glFlush = real_flush;
        assert_ok(status);
        ck_assert(gate_is_open(gate));
        ck_assert_int_eq(flushes > 0, i != 0);
    }
}

static unsigned barriers;
static __typeof__(epoxy_glMemoryBarrier) real_barrier;

static void EPOXY_CALLSPEC count_barrier(GLbitfield which)
{
    ck_assert_uint_eq(which, GL_ALL_BARRIER_BITS);
    barriers++;
    real_barrier(which);
}

/*
 * Shader writes are visible to CUDA, as with cuGraphicsMapResources. Each batch issues one barrier
 * at the map and one at the release.
 */
COPY_TEST(maps_and_releases_issue_one_memory_barrier_per_batch)
{
    gr_resource *resources[3];
    gr_buffer *buffers[3];
    for (int i = 0; i < 3; i++)
        resources[i] = must_copy(gl_buffer_filled(LIMIT * 2, 0), GR_READ_WRITE);
    /* epoxy resolves glMemoryBarrier now, so that its pointer can be replaced. */
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
    real_barrier = epoxy_glMemoryBarrier;
    barriers = 0;
    epoxy_glMemoryBarrier = count_barrier;
    gr_status mapped = gr_map_many(resources, 3, fx.stream, NULL, buffers);
    unsigned by_map = barriers;
    gr_status released = gr_buffer_release_many(buffers, 3, fx.stream, NULL);
    epoxy_glMemoryBarrier = real_barrier;
    assert_ok(mapped);
    assert_ok(released);
    ck_assert_uint_eq(by_map, 1);
    ck_assert_uint_eq(barriers, 2);
    free_resources(resources, 3);
}

/* ---- Frames in flight ------------------------------------------------------------------------ */

enum { TURNS = 3, FRAMES = 8 };

static GLsync made[FRAMES], awaited[FRAMES];
static unsigned made_count, awaited_count;
static __typeof__(epoxy_glFenceSync) real_fence;
static __typeof__(epoxy_glClientWaitSync) real_wait;

static GLsync EPOXY_CALLSPEC note_fence(GLenum condition, GLbitfield flags)
{
    ck_assert_uint_lt(made_count, FRAMES);
    return made[made_count++] = real_fence(condition, flags);
}

static GLenum EPOXY_CALLSPEC note_wait(GLsync sync, GLbitfield flags, GLuint64 ns)
{
    ck_assert_uint_lt(awaited_count, FRAMES);
    awaited[awaited_count++] = sync;
    return real_wait(sync, flags, ns);
}

static void write_frames(gr_resource *resource)
{
    for (unsigned frame = 0; frame < FRAMES; frame++) {
        write_mapped(resource, frame);
        assert_gl_pattern(gr_gl_name(resource), gr_resource_get_info(resource)->size, frame);
    }
}

/*
 * CUDA writes a frame while OpenGL still has to copy the two frames before it. For a third pending
 * frame, CUDA waits.
 */
COPY_TEST(cuda_writes_two_frames_ahead_of_the_opengl_copy)
{
    GR_AUTO(gr_resource) *resource = must_copy(gl_buffer_filled(LIMIT + 1, 0), GR_WRITE_DISCARD);
    /* epoxy resolves the functions now, so that their pointers can be replaced. */
    write_mapped(resource, 1);
    glClientWaitSync(NULL, 0, 0);
    ck_assert_uint_eq(glGetError(), GL_INVALID_VALUE);
    real_fence = epoxy_glFenceSync;
    real_wait = epoxy_glClientWaitSync;
    made_count = awaited_count = 0;
    epoxy_glFenceSync = note_fence;
    epoxy_glClientWaitSync = note_wait;
    write_frames(resource);
    epoxy_glFenceSync = real_fence;
    epoxy_glClientWaitSync = real_wait;
    ck_assert_uint_eq(made_count, FRAMES);
    /* The first wait is for the copy of the frame before the loop. */
    ck_assert_uint_eq(awaited_count, FRAMES - TURNS + 1);
    for (unsigned i = 1; i < awaited_count; i++)
        ck_assert_ptr_eq(awaited[i], made[i - 1]);
}

/* ---- Bytes in the storage of the buffer itself ----------------------------------------------- */

COPY_TEST(created_buffers_pass_bytes_both_ways)
{
    static const size_t sizes[] = {1, 3, 4096, 777777};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        GR_AUTO(gr_resource) *resource = must_create_copy(sizes[i], GR_READ_WRITE);
        gl_copy_buffer(gl_buffer_pattern(sizes[i], 1), gr_gl_name(resource), sizes[i]);
        for (unsigned round = 1; round < 4; round++)
            go_round(resource, sizes[i], round);
    }
}

/* OpenGL commands are issued early and run late. */
COPY_TEST(cuda_does_not_overwrite_bytes_that_opengl_has_yet_to_read)
{
    enum { LARGE = 4 << 20 };
    GR_AUTO(gr_resource) *resource = must_create_copy(LARGE, GR_WRITE_DISCARD);
    GLuint name = gr_gl_name(resource), seen[3];
    for (unsigned i = 0; i < 3; i++) {
        seen[i] = gl_buffer_filled(LARGE, 0xEE);
        fill_mapped(resource, (int)i + 1);
        gl_copy_buffer(name, seen[i], LARGE);
    }
    for (unsigned i = 0; i < 3; i++)
        assert_gl_bytes(seen[i], LARGE, (int)i + 1);
}

/* Mapping a part preserves the other bytes in the storage of the buffer itself. */
COPY_TEST(a_mapped_part_is_copied_to_its_offset)
{
    unsigned char bytes[SIZE], wanted[SIZE];
    const gr_map_options part = GR_INIT(gr_map_options, .offset = 1000, .size = 96);
    GR_AUTO(gr_resource) *resource = must_create_copy(SIZE, GR_READ_WRITE);
    memset(wanted, 0x11, SIZE);
    gl_write(gr_gl_name(resource), wanted, SIZE);
    gr_buffer *buffer = must_make(gr_map_with(resource, fx.stream, &part));
    assert_cuda_bytes(buffer, 0x11);
    fill_and_release(buffer, 0x22);
    gl_read(gr_gl_name(resource), bytes, SIZE);
    memset(wanted + 1000, 0x22, 96);
    ck_assert_mem_eq(bytes, wanted, SIZE);
}

/* The deletion frees the storage, but not before the stream has read it. */
COPY_TEST(a_created_buffer_can_be_deleted_while_mapped)
{
    GR_AUTO(gr_resource) *resource = must_create_copy(SIZE, GR_READ_WRITE);
    GLuint name = gr_gl_name(resource);
    gr_buffer *buffer = must_map(resource);
    CU(StreamSynchronize(fx.stream));
    glDeleteBuffers(1, &name);
    assert_fails(gr_buffer_release(buffer), GR_ERR_PARTIAL, 0, "deleted");
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "deleted");
}

/* ---- The end --------------------------------------------------------------------------------- */

COPY_TEST(freeing_the_resource_ends_its_host_mapping)
{
    struct image image = image_make("RGBA8", "CUBE", 8, 8, 1);
    GLuint name = gl_buffer_filled(SIZE, 1), large = gl_buffer_filled(LIMIT + 1, 1);
    unsigned before = count_gl_buffers();
    for (int i = 0; i < 5; i++) {
        gr_resource *made[] = {must_copy(name, GR_READ_ONLY), must_copy(large, GR_WRITE_DISCARD),
                               must_copy_image(&image, GR_READ_WRITE),
                               must_create_copy(SIZE, GR_READ_WRITE)};
        ck_assert_uint_eq(count_gl_buffers(), before + 4);
        for (int k = 0; k < 4; k++) {
            gr_buffer *buffer = k == 2 ? must_map_image(made[k]) : must_map(made[k]);
            assert_ok(gr_buffer_release(buffer));
            CU(StreamSynchronize(fx.stream));
            gr_resource_free(made[k]);
        }
        ck_assert_uint_eq(count_gl_buffers(), before);
    }
    assert_calls(REGISTER, 20);
    assert_calls(UNREGISTER, 20);
    ck_assert_uint_eq(fault->refusals(UNREGISTER), 0);
}

/*
 * A stream reads OpenGL memory. Neither the CUDA registration of that memory nor the OpenGL buffer
 * may end before the stream has finished.
 */
COPY_TEST(the_host_memory_outlives_the_work_of_streams)
{
    GLuint name = gl_buffer_pattern(SIZE, 4);
    unsigned before = count_gl_buffers();
    void *got = NULL;
    CU(MemAllocHost(&got, SIZE));
    gr_resource *resource = must_copy(name, GR_READ_ONLY);
    struct gate *gate = gate_put(fx.stream);
    gr_buffer *buffer = must_map(resource);
    CU(MemcpyDtoHAsync(got, gr_buffer_ptr(buffer), SIZE, fx.stream));
    assert_ok(gr_buffer_release(buffer));
    gr_resource_free(resource);
    assert_calls(UNREGISTER, 0);
    ck_assert_uint_eq(count_gl_buffers(), before + 1);
    gate_open(gate);
    CU(StreamSynchronize(fx.stream));
    assert_pattern(got, SIZE, 4);
    /* Also frees the objects whose free was deferred. */
    gr_resource_free(must_copy(name, GR_READ_WRITE));
    assert_calls(UNREGISTER, 2);
    ck_assert_uint_eq(count_gl_buffers(), before);
    CU(MemFreeHost(got));
}

/* ---- OpenGL without fences ------------------------------------------------------------------- */

static unsigned finishes;
static __typeof__(epoxy_glFinish) real_finish;

static void EPOXY_CALLSPEC count_finish(void)
{
    finishes++;
    real_finish();
}

static GLsync EPOXY_CALLSPEC make_no_fence(GLenum condition, GLbitfield flags)
{
    (void)condition, (void)flags;
    return NULL;
}

COPY_TEST(without_a_fence_the_thread_waits_by_glfinish)
{
    static const size_t sizes[] = {SIZE, (size_t)9 << 20};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        GR_AUTO(gr_resource) *resource = must_copy(gl_buffer_pattern(sizes[i], 1), GR_READ_WRITE);
        __typeof__(epoxy_glFenceSync) fence = epoxy_glFenceSync;
        glFinish(); /* epoxy resolves glFinish now, so that its pointer can be replaced */
        real_finish = epoxy_glFinish;
        finishes = 0;
        epoxy_glFinish = count_finish;
        epoxy_glFenceSync = make_no_fence;
        gr_buffer *buffer = gr_map(resource, fx.stream);
        epoxy_glFinish = real_finish;
        epoxy_glFenceSync = fence;
        assert_made(buffer);
        ck_assert_uint_gt(finishes, 0);
        assert_cuda_pattern(buffer, 1);
        assert_ok(gr_buffer_release(buffer));
    }
}

/* ---- OpenGL that waits for CUDA -------------------------------------------------------------- */

static GLenum EPOXY_CALLSPEC expire(GLsync sync, GLbitfield flags, GLuint64 ns)
{
    (void)sync, (void)flags, (void)ns;
    let_fail("cuStreamQuery", CUDA_ERROR_ILLEGAL_ADDRESS, 0);
    return GL_TIMEOUT_EXPIRED;
}

/* OpenGL may wait for a signal that CUDA does not send after a failure. */
COPY_TEST(a_wait_for_opengl_ends_if_cuda_fails)
{
    static const size_t sizes[] = {SIZE, (size_t)9 << 20};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        GR_AUTO(gr_resource) *resource = must_copy(gl_buffer_pattern(sizes[i], 1), GR_READ_WRITE);
        gr_buffer *buffer = NULL;
        assert_mapped(resource, 1); /* epoxy resolves glClientWaitSync */
        real_wait = epoxy_glClientWaitSync;
        epoxy_glClientWaitSync = expire;
        gr_status status = gr_map_many(&resource, 1, fx.stream, NULL, &buffer);
        epoxy_glClientWaitSync = real_wait;
        ck_assert_int_eq(status, GR_ERR_DEVICE_LOST);
        assert_error(GR_ERR_DEVICE_LOST, 0, "OpenGL has not finished");
        assert_mapped(resource, 1);
    }
}
