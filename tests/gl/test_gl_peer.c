/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The peer transport: OpenGL draws on one GPU, CUDA computes on another, and the bytes are copied
 * between the two. On the software driver, OpenGL draws on the first of two devices.
 */
#include "gl_peer.h"

#include <string.h>

#define MANY 5
#define HUGE 300 /* more resources than fit into one driver call */

/* Creates and maps a resource once, because the driver keeps what that opens. */
static void use_peer(void)
{
    GR_AUTO(gr_resource) *resource = must_peer(gl_buffer_filled(64, 1), GR_READ_WRITE);
    assert_ok(gr_buffer_release(must_map(resource)));
}

TCase *add_peer_case(Suite *suite, const char *name)
{
    return with_peer_device(add_image_case(suite, name), use_peer);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

const gr_gl_options by_peer = {.struct_size = sizeof(gr_gl_options),
                               .transports = GR_TRANSPORT_PEER};

gr_resource *must_peer(GLuint name, unsigned flags)
{
    gr_resource *resource = must_make(gr_from_gl_buffer_with(name, flags, &by_peer));
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, GR_TRANSPORT_PEER);
    return resource;
}

static const struct map_call map_calls[] = {
    {COPY, 4, 0},
    {MAP, 1, NEVER_MAPPED},
    {"cuGraphicsResourceGetMappedPointer", 1, 0},
    {"cuStreamWaitEvent", 5, 4},
    {"cuEventRecord", 1, 0},
    {UNMAP, 1, 0},
};

const struct transport tested = {
    .make = must_peer,
    .missing = peer_missing,
    .first = MAP,
    .in = COPY,
    .end = UNREGISTER,
    .failed = "earlier work",
    .map_calls = map_calls,
    .map_call_count = sizeof(map_calls) / sizeof(*map_calls),
};

make_case *const transport_cases[] = {add_peer_case, NULL};

GROUP("bytes", add_peer_case)

/* A map returns ordinary memory of the computing device. */
PEER_TEST(mapped_memory_belongs_to_the_computing_device)
{
    int owner = -1;
    GR_AUTO(gr_resource) *resource = must_peer(gl_buffer_pattern(SIZE, 1), GR_READ_WRITE);
    gr_buffer *buffer = must_map(resource);
    CUdeviceptr first = gr_buffer_ptr(buffer);
    CU(PointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, first));
    ck_assert_int_eq(owner, fx.device);
    assert_ok(gr_buffer_release(buffer));
    buffer = must_map(resource);
    ck_assert_uint_eq(gr_buffer_ptr(buffer), first);
    assert_ok(gr_buffer_release(buffer));
}

PEER_TEST(read_only_copies_only_to_cuda)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_peer(name, GR_READ_ONLY);
    for (unsigned i = 1; i < 4; i++) {
        gr_buffer *buffer = must_map(resource);
        assert_calls(COPY, i);
        assert_calls(UNMAP, i); /* OpenGL keeps drawing while CUDA reads */
        assert_cuda_pattern(buffer, 1);
        cuda_fill(buffer, 0xEE);
        assert_ok(gr_buffer_release(buffer));
        assert_gl_pattern(name, SIZE, 1);
    }
    assert_calls(MAP, 3);
    assert_calls(UNMAP, 3);
    assert_calls(COPY, 3);
}

/* CUDA still sees the bytes that it wrote last. OpenGL keeps drawing in the meantime. */
PEER_TEST(write_discard_copies_only_to_opengl)
{
    GLuint name = gl_buffer_filled(SIZE, 0x11);
    GR_AUTO(gr_resource) *resource = must_peer(name, GR_WRITE_DISCARD);
    write_mapped(resource, 5);
    assert_gl_pattern(name, SIZE, 5);
    assert_calls(COPY, 1);
    unsigned char poison[SIZE];
    memset(poison, 0xEE, sizeof(poison));
    gl_write(name, poison, SIZE);
    gr_buffer *buffer = must_map(resource);
    assert_calls(MAP, 1);
    assert_cuda_pattern(buffer, 5);
    assert_gl_bytes(name, SIZE, 0xEE);
    assert_ok(gr_buffer_release(buffer));
    assert_gl_pattern(name, SIZE, 5);
    assert_calls(COPY, 2);
    assert_calls(MAP, 2);
    assert_calls(UNMAP, 2);
}

static gr_buffer *must_map_part(gr_resource *resource, size_t offset, size_t size)
{
    gr_buffer *buffer = NULL;
    const gr_map_options part = GR_INIT(gr_map_options, .offset = offset, .size = size);
    assert_ok(gr_map_many(&resource, 1, fx.stream, &part, &buffer));
    return buffer;
}

/* The other bytes keep their OpenGL contents. */
PEER_TEST(only_the_mapped_part_is_copied)
{
    static const unsigned flags[] = {GR_READ_WRITE, GR_WRITE_DISCARD};
    for (size_t i = 0; i < 2; i++) {
        unsigned char bytes[SIZE];
        GLuint name = gl_buffer_filled(SIZE, 0x21);
        GR_AUTO(gr_resource) *resource = must_peer(name, flags[i]);
        gr_buffer *buffer = must_map_part(resource, 1000, 96);
        ck_assert_uint_eq(gr_buffer_size(buffer), 96);
        if (flags[i] == GR_READ_WRITE)
            assert_cuda_bytes(buffer, 0x21);
        cuda_fill(buffer, 0x22);
        assert_ok(gr_buffer_release(buffer));
        gl_read(name, bytes, SIZE);
        assert_bytes(bytes, 1000, 0x21);
        assert_bytes(bytes + 1000, 96, 0x22);
        assert_bytes(bytes + 1096, SIZE - 1096, 0x21);
    }
}

PEER_TEST(buffers_with_immutable_storage_are_copied)
{
    GLuint name = 0;
    unsigned char bytes[SIZE];
    pattern_fill(bytes, SIZE, 1);
    glGenBuffers(1, &name);
    glBindBuffer(GL_COPY_WRITE_BUFFER, name);
    glBufferStorage(GL_COPY_WRITE_BUFFER, SIZE, bytes, GL_DYNAMIC_STORAGE_BIT);
    GR_AUTO(gr_resource) *resource = must_peer(name, GR_READ_WRITE);
    for (unsigned round = 1; round < 3; round++)
        go_round(resource, SIZE, round);
}

GROUP("batches", add_peer_case)

static const unsigned some_flags[MANY] = {GR_READ_WRITE, GR_READ_ONLY, GR_WRITE_DISCARD,
                                          GR_READ_WRITE, GR_READ_ONLY};

PEER_TEST(map_many_needs_one_driver_call)
{
    GLuint names[MANY];
    gr_resource *resources[MANY];
    gr_buffer *buffers[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        names[i] = gl_buffer_pattern(SIZE + i, i);
        resources[i] = must_peer(names[i], some_flags[i]);
    }
    assert_ok(gr_map_many(resources, MANY, fx.stream, NULL, buffers));
    assert_calls(MAP, 1);
    assert_calls(UNMAP, 1); /* unmaps the resources that are only read */
    assert_calls(COPY, 4);
    for (unsigned i = 0; i < MANY; i++) {
        if (some_flags[i] != GR_WRITE_DISCARD)
            assert_cuda_pattern(buffers[i], i);
        cuda_write_pattern(buffers[i], i + 20);
    }
    assert_ok(gr_buffer_release_many(buffers, MANY, fx.stream, NULL));
    assert_calls(MAP, 2); /* maps the resource that was not mapped before */
    assert_calls(UNMAP, 2);
    assert_calls(COPY, 7);
    for (unsigned i = 0; i < MANY; i++) {
        assert_gl_pattern(names[i], SIZE + i, some_flags[i] == GR_READ_ONLY ? i : i + 20);
        gr_resource_free(resources[i]);
    }
}

PEER_TEST(map_many_splits_300_resources_into_two_driver_calls)
{
    static GLuint names[HUGE];
    static gr_resource *resources[HUGE];
    static gr_buffer *buffers[HUGE];
    for (unsigned i = 0; i < HUGE; i++) {
        names[i] = gl_buffer_pattern(64, i);
        resources[i] = must_peer(names[i], GR_READ_WRITE);
    }
    assert_ok(gr_map_many(resources, HUGE, fx.stream, NULL, buffers));
    assert_calls(MAP, 2);
    for (unsigned i = 0; i < HUGE; i += 13)
        cuda_write_pattern(buffers[i], i + 7);
    assert_ok(gr_buffer_release_many(buffers, HUGE, fx.stream, NULL));
    assert_calls(UNMAP, 2);
    for (unsigned i = 0; i < HUGE; i++) {
        assert_gl_pattern(names[i], 64, i % 13 ? i : i + 7);
        gr_resource_free(resources[i]);
    }
}

/*
 * Each resource is mapped alone, on its own stream of the drawing device. Both are released
 * together, in each order.
 */
PEER_TEST(resources_mapped_separately_can_be_released_together)
{
    GLuint names[2] = {gl_buffer_pattern(SIZE, 1), gl_buffer_pattern(SIZE, 2)};
    gr_resource *resources[2] = {must_peer(names[0], GR_READ_WRITE),
                                 must_peer(names[1], GR_READ_WRITE)};
    gr_buffer *buffers[2];
    for (unsigned round = 3; round < 6; round++) {
        buffers[0] = must_map(resources[0]);
        buffers[1] = must_map(resources[1]);
        cuda_write_pattern(buffers[0], round);
        cuda_write_pattern(buffers[1], round + 10);
        gr_buffer *turned[2] = {buffers[1], buffers[0]};
        assert_ok(gr_buffer_release_many(round % 2 ? buffers : turned, 2, fx.stream, NULL));
        assert_gl_pattern(names[0], SIZE, round);
        assert_gl_pattern(names[1], SIZE, round + 10);
    }
    gr_resource_free(resources[0]);
    gr_resource_free(resources[1]);
}

START(fault_control_start())
