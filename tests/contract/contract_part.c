/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Maps of part of a buffer, with gr_map_options. */
#include "contract.h"

GROUP("parts of a buffer", add_sharing_case)

static gr_status map_part(gr_resource *resource, size_t offset, size_t size, gr_buffer **buffer)
{
    return gr_map_many(&resource, 1, fx.stream,
                       &GR_INIT(gr_map_options, .offset = offset, .size = size), buffer);
}

/* The bytes outside the part must not change. */
TEST(a_part_of_a_buffer_is_mapped, 3)
{
    GLuint name;
    unsigned char bytes[SIZE];
    GR_AUTO(gr_resource) *resource = make_resource(_i, &name);
    if (!resource)
        skip("%s", error_text());
    fill_mapped(resource, 1);
    gr_buffer *buffer = NULL;
    assert_ok(map_part(resource, 1000, 24, &buffer));
    ck_assert_uint_eq(gr_buffer_size(buffer), 24);
    assert_cuda_bytes(buffer, 1);
    fill_and_release(buffer, 0x41);
    assert_ok(map_part(resource, SIZE - 8, 0, &buffer));
    ck_assert_uint_eq(gr_buffer_size(buffer), 8);
    fill_and_release(buffer, 0x42);
    GR_AUTO(gr_buffer) *whole = must_map(resource);
    ck_assert_uint_eq(gr_buffer_size(whole), SIZE);
    CU(StreamSynchronize(fx.stream));
    CU(MemcpyDtoH(bytes, gr_buffer_ptr(whole), SIZE));
    assert_bytes(bytes, 1000, 1);
    assert_bytes(bytes + 1000, 24, 0x41);
    assert_bytes(bytes + 1024, SIZE - 1024 - 8, 1);
    assert_bytes(bytes + SIZE - 8, 8, 0x42);
}

/*
 * OpenGL may change the other bytes while a part is mapped. The copy transport must not overwrite
 * them.
 */
TEST(the_copy_transport_copies_only_the_mapped_part)
{
    GLuint name;
    unsigned char bytes[SIZE];
    GR_AUTO(gr_resource) *resource = must_make(make_resource(1, &name));
    fill_mapped(resource, 1);
    gr_buffer *buffer = NULL;
    assert_ok(map_part(resource, 16, 16, &buffer));
    cuda_fill(buffer, 0x43);
    GLuint other = gl_buffer_filled(SIZE, 0x55);
    gl_copy_buffer(other, name, SIZE);
    assert_ok(gr_buffer_release(buffer));
    gl_read(name, bytes, SIZE);
    assert_bytes(bytes, 16, 0x55);
    assert_bytes(bytes + 16, 16, 0x43);
    assert_bytes(bytes + 32, SIZE - 32, 0x55);
}

/* A buffer of each kind, of which the second is mapped whole, and an image, which has no part. */
TEST(each_buffer_has_a_part_of_its_own)
{
    GLuint name;
    gr_resource *resources[] = {must_make(make_resource(0, &name)),
                                must_make(make_resource(1, &name)), NULL};
    const GLuint texture = bound_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 4, 4);
    resources[2] = must_make(gr_from_gl_image(texture, GL_TEXTURE_2D, GR_READ_WRITE));
    gr_map_part parts[] = {{16, 8}, {0, 0}, {0, 0}};
    gr_map_options options = GR_INIT(gr_map_options, .parts = parts);
    gr_buffer *buffers[3] = {NULL};
    fill_mapped(resources[0], 1);
    assert_ok(gr_map_many(resources, 3, fx.stream, &options, buffers));
    ck_assert_uint_eq(gr_buffer_size(buffers[0]), 8);
    ck_assert_uint_eq(gr_buffer_size(buffers[1]), SIZE);
    cuda_fill(buffers[0], 0x51);
    cuda_fill(buffers[1], 0x52);
    assert_ok(gr_buffer_release_many(buffers, 3, GR_STREAM_OF_MAP, NULL));
    unsigned char bytes[SIZE];
    gl_read(gr_gl_name(resources[0]), bytes, SIZE);
    assert_bytes(bytes, 16, 1);
    assert_bytes(bytes + 16, 8, 0x51);
    assert_bytes(bytes + 24, SIZE - 24, 1);
    gl_read(gr_gl_name(resources[1]), bytes, SIZE);
    assert_bytes(bytes, SIZE, 0x52);
    parts[1].offset = SIZE;
    assert_invalid(gr_map_many(resources, 3, fx.stream, &options, buffers), "within the buffer");
    parts[1].offset = 0, parts[2].size = 4;
    assert_invalid(gr_map_many(resources, 3, fx.stream, &options, buffers), "image");
    options.offset = 16;
    assert_invalid(gr_map_many(resources, 1, fx.stream, &options, buffers), "`parts`");
    for (int i = 0; i < 3; i++) {
        ck_assert(!gr_resource_get_info(resources[i])->mapped);
        gr_resource_free(resources[i]);
    }
    glDeleteTextures(1, &texture);
}

TEST(a_part_beyond_the_end_of_the_buffer_is_refused)
{
    static const size_t parts[][2] = {{SIZE, 0},     {SIZE, 1},       {0, SIZE + 1},
                                      {SIZE - 1, 2}, {(size_t)-1, 0}, {1, (size_t)-1}};
    gr_buffer *buffer = NULL;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        assert_invalid(map_part(fx.resource, parts[i][0], parts[i][1], &buffer),
                       "is not within the buffer");
    ck_assert_ptr_null(buffer);
    assert_not_mapped(fx.resource);
}
