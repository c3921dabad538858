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
    GLuint texture = bound_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 4, 4);
    GR_AUTO(gr_resource) *image =
        must_make(gr_from_gl_image(texture, GL_TEXTURE_2D, GR_READ_WRITE));
    assert_invalid(map_part(image, 0, 4, &buffer), "image");
    glDeleteTextures(1, &texture);
}
