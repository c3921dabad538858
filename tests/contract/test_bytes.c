/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * OpenGL reads the bytes that CUDA wrote, and the reverse, for each way of writing, each flag, each
 * kind of stream, and sizes from one byte up.
 */
#include "tests/support/support.h"
#include "tests/support/usable.h"

#include <string.h>

#define SIZE 10007

GROUP("CUDA writes", add_resource_case)

TEST(gl_reads_the_bytes_of_a_copy_from_device_memory)
{
    unsigned char bytes[SIZE];
    pattern_fill(bytes, SIZE, 2);
    CUdeviceptr memory = 0;
    CU(MemAlloc(&memory, SIZE));
    CU(MemcpyHtoDAsync(memory, bytes, SIZE, fx.stream));
    gr_buffer *buffer = must_map(fx.resource);
    CU(MemcpyDtoDAsync(gr_buffer_ptr(buffer), memory, SIZE, fx.stream));
    assert_ok(gr_buffer_release(buffer));
    assert_gl_pattern(fx.name, SIZE, 2);
    CU(MemFree(memory));
}

TEST(bytes_that_cuda_does_not_write_are_kept)
{
    gr_buffer *buffer = must_map(fx.resource);
    CU(MemsetD8Async(gr_buffer_ptr(buffer) + 100, 2, 1000, fx.stream));
    assert_ok(gr_buffer_release(buffer));
    unsigned char bytes[SIZE];
    gl_read(fx.name, bytes, SIZE);
    assert_bytes(bytes, 100, 1);
    assert_bytes(bytes + 100, 1000, 2);
    assert_bytes(bytes + 1100, SIZE - 1100, 1);
}

GROUP("OpenGL writes", add_resource_case)

TEST(cuda_reads_bytes_written_between_two_maps)
{
    unsigned char bytes[SIZE];
    for (unsigned seed = 5; seed < 10; seed++) {
        pattern_fill(bytes, SIZE, seed);
        gl_write(fx.name, bytes, SIZE);
        GR_AUTO(gr_buffer) *buffer = must_map(fx.resource);
        assert_cuda_pattern(buffer, seed);
    }
}

TEST(cuda_reads_bytes_that_gl_copied_between_buffers)
{
    GLuint source = gl_buffer_pattern(SIZE, 10), name = gl_buffer_filled(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_register(name);
    gl_copy_buffer(source, name, SIZE);
    GR_AUTO(gr_buffer) *buffer = must_map(resource);
    assert_cuda_pattern(buffer, 10);
}

TEST(a_kernel_changes_bytes_that_gl_wrote)
{
    need_kernels();
    GLuint name = gl_buffer_filled(SIZE, 7);
    GR_AUTO(gr_resource) *resource = must_register(name);
    for (int frame = 1; frame <= 50; frame++) {
        gr_buffer *buffer = must_map(resource);
        kernel_add_one(gr_buffer_ptr(buffer), SIZE, fx.stream);
        assert_ok(gr_buffer_release(buffer));
        if (frame % 10 == 0)
            assert_gl_bytes(name, SIZE, 7 + frame);
    }
}

TEST(a_kernel_copies_between_two_mapped_buffers)
{
    need_kernels();
    GLuint from = gl_buffer_pattern(SIZE, 11), to = gl_buffer_filled(SIZE, 1);
    GR_AUTO(gr_resource) *source = must_register(from);
    GR_AUTO(gr_resource) *target = must_register(to);
    gr_buffer *in = must_map(source), *out = must_map(target);
    kernel_copy(gr_buffer_ptr(out), gr_buffer_ptr(in), SIZE, fx.stream);
    assert_ok(gr_buffer_release(out));
    assert_ok(gr_buffer_release(in));
    assert_gl_pattern(to, SIZE, 11);
    assert_gl_pattern(from, SIZE, 11);
}

GROUP("flags", add_resource_case)

TEST(read_only_shows_cuda_the_bytes_and_keeps_them)
{
    GLuint name = gl_buffer_pattern(SIZE, 12);
    GR_AUTO(gr_resource) *resource = must_register_as(name, GR_READ_ONLY);
    for (int i = 0; i < 2; i++) {
        assert_mapped(resource, 12);
        assert_gl_pattern(name, SIZE, 12);
    }
}

/*
 * After the map the contents are undefined. The NVIDIA driver keeps the old bytes. The software
 * driver changes them, so that a program that relies on them fails.
 */
TEST(write_discard_overwrites_the_old_bytes_on_the_software_driver)
{
    if (!gr_cuda_is_software())
        skip("a GPU's driver may keep the old bytes, and NVIDIA's does");
    GLuint name = gl_buffer_pattern(SIZE, 16);
    GR_AUTO(gr_resource) *resource = must_register_as(name, GR_WRITE_DISCARD);
    GR_AUTO(gr_buffer) *buffer = must_map(resource);
    unsigned char bytes[SIZE];
    cuda_read(bytes, gr_buffer_ptr(buffer), SIZE, fx.stream);
    ck_assert_ptr_nonnull(pattern_differs(bytes, SIZE, 16));
    cuda_fill(buffer, 0);
}

GROUP("sizes", add_resource_case)

/* CUDA reads the bytes that OpenGL wrote and changes each, and OpenGL reads each change. */
static void go_both_ways(size_t size)
{
    GLuint name = gl_buffer_pattern(size, (unsigned)size);
    GR_AUTO(gr_resource) *resource = must_register(name);
    assert_both_ways(must_map(resource), name, size, (unsigned)size);
    if (!kernels_load()) {
        gr_buffer *buffer = must_map(resource);
        kernel_fill_pattern(gr_buffer_ptr(buffer), size, (unsigned)size + 2, fx.stream);
        assert_ok(gr_buffer_release(buffer));
        assert_gl_pattern(name, size, (unsigned)size + 2);
    }
    assert_ok(gr_resource_close(resource, GR_STREAM_OF_MAP));
    glDeleteBuffers(1, &name);
}

TEST(buffers_of_odd_sizes_pass_both_ways)
{
    static const size_t sizes[] = {1,    2,     3,     5,      7,       13,     63,
                                   64,   65,    255,   257,    1000,    4095,   4096,
                                   4097, 65535, 65537, 999983, 1 << 20, 2097153};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        go_both_ways(sizes[i]);
}

GROUP("large sizes", add_resource_case)
TAG("bytes")

TEST(large_buffers_pass_both_ways)
{
    size_t size = (size_t)256 << 20;
    if (sanitizer())
        size = ((size_t)16 << 20) + 5; /* sanitizers need several times the memory and time */
    go_both_ways(size);
}

GROUP("sizes", add_resource_case)

TEST(immutable_storage_passes_both_ways)
{
    if (epoxy_gl_version() < 44)
        skip("glBufferStorage needs OpenGL 4.4");
    unsigned char bytes[SIZE];
    pattern_fill(bytes, SIZE, 17);
    GLuint name = 0;
    glGenBuffers(1, &name);
    glBindBuffer(GL_COPY_READ_BUFFER, name);
    glBufferStorage(GL_COPY_READ_BUFFER, SIZE, bytes, 0);
    GR_AUTO(gr_resource) *resource = must_register(name);
    assert_both_ways(must_map(resource), name, SIZE, 17);
}

GROUP("streams", add_resource_case)

static void use_stream(CUstream stream)
{
    GLuint name = gl_buffer_pattern(SIZE, 19);
    GR_AUTO(gr_resource) *resource = must_register(name);
    gr_buffer *buffer = must_make(gr_map(resource, stream));
    assert_cuda_pattern(buffer, 19);
    cuda_fill(buffer, 20);
    kernel_add_one(gr_buffer_ptr(buffer), SIZE, stream);
    assert_ok(gr_buffer_release(buffer));
    assert_gl_bytes(name, SIZE, 21);
}

TEST(bytes_pass_on_the_legacy_stream)
{
    need_kernels();
    use_stream(CU_STREAM_LEGACY);
}

TEST(bytes_pass_on_the_per_thread_stream)
{
    need_kernels();
    use_stream(CU_STREAM_PER_THREAD);
}

TEST(bytes_pass_on_a_blocking_stream)
{
    need_kernels();
    CUstream stream = NULL;
    CU(StreamCreate(&stream, CU_STREAM_DEFAULT));
    use_stream(stream);
    CU(StreamDestroy(stream));
}

TEST(two_resources_on_two_streams_keep_their_bytes_apart)
{
    need_kernels();
    GLuint one = gl_buffer_filled(SIZE, 1), two = gl_buffer_filled(SIZE + 1, 1);
    GR_AUTO(gr_resource) *first = must_register(one);
    GR_AUTO(gr_resource) *second = must_register(two);
    for (unsigned seed = 22; seed < 27; seed++) {
        gr_buffer *a = must_make(gr_map(first, fx.stream)),
                  *b = must_make(gr_map(second, fx.other));
        kernel_fill_pattern(gr_buffer_ptr(a), SIZE, seed, fx.stream);
        kernel_fill_pattern(gr_buffer_ptr(b), SIZE + 1, seed + 100, fx.other);
        assert_ok(gr_buffer_release(a));
        assert_ok(gr_buffer_release(b));
        assert_gl_pattern(one, SIZE, seed);
        assert_gl_pattern(two, SIZE + 1, seed + 100);
    }
}

START(resource_case_buffer(SIZE, 1))
