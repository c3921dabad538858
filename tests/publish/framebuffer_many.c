/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Fetches of several attachments with one map, and copies of attachments to buffers. */
#include "framebuffer_support.h"

#include <string.h>

#include <grinterop/ring.h>

GROUP("several attachments", add_fetch_case, add_read_pixels_case)

/* Colour, depth and stencil, of different values. */
static GLuint make_all(void)
{
    const struct attachment_format *stencil = &attachment_formats[16];
    GLuint framebuffer = make_framebuffer(stencil, 0), colours;
    glCreateRenderbuffers(1, &colours);
    glNamedRenderbufferStorage(colours, GL_RGBA8, WIDTH, HEIGHT);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colours);
    draw_pattern(attachment_rgba8);
    glClearStencil(7);
    glClear(GL_STENCIL_BUFFER_BIT);
    return framebuffer;
}

TEST(they_are_read_with_one_map, 2)
{
    GR_AUTO(gr_resource) *staging = gr_create_gl_buffer(MOST_BYTES, GR_READ_ONLY, NULL);
    const gr_framebuffer_options colour = GR_INIT(gr_framebuffer_options, .height = 3),
                                 stencil = GR_INIT(gr_framebuffer_options,
                                                   .attachment = GL_STENCIL_ATTACHMENT,
                                                   .staging = _i ? staging : NULL);
    const gr_framebuffer_options *const options[] = {&colour, &stencil, NULL};
    const GLuint framebuffer = make_all();
    gr_tensor *const tensors[] = {new_tensor(GR_DTYPE_U8, 3, WIDTH, 4),
                                  new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 1),
                                  new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4)};
    assert_ok(gr_fetch_framebuffer_many(framebuffer, tensors, options, 3, fx.stream));
    ck_assert_uint_eq(dispatches, has_shader ? 3 : 0);
    download_tensor(tensors[1]);
    assert_bytes(fetched, (size_t)WIDTH * HEIGHT, 7);
    read_reference(attachment_rgba8, expected);
    download_tensor(tensors[2]);
    assert_pixels(attachment_rgba8, (size_t)WIDTH * HEIGHT * 4);
    download_tensor(tensors[0]);
    ck_assert_mem_eq(fetched, expected, (size_t)WIDTH * 3 * 4);
}

/* Six tiles of 6 x 3 pixels in three columns, or five of them, and the same by glReadPixels(). */
TEST(tiles_are_read_with_one_call, 4)
{
    enum { TILE_WIDTH = 6, TILE_HEIGHT = 3, COLUMNS = 3, ROW = TILE_WIDTH * 4 };
    const bool flip = _i % 2;
    const int64_t shape[] = {_i / 2 ? 5 : 6, TILE_HEIGHT, TILE_WIDTH, 4};
    const gr_publish_options conversion =
        GR_INIT(gr_publish_options, .columns = COLUMNS, .flip = flip);
    const gr_framebuffer_options o =
        GR_INIT(gr_framebuffer_options, .x = 1, .y = 1, .width = COLUMNS * TILE_WIDTH,
                .height = 2 * TILE_HEIGHT, .conversion = &conversion);
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    need_publish_kernels();
    draw_pattern(attachment_rgba8);
    gr_tensor *to = tensor_of(GR_DTYPE_U8, GR_LAYOUT_SHAPE, 4, shape, NULL);
    assert_ok(gr_fetch_framebuffer(framebuffer, to, &o, fx.stream));
    download_tensor(to);
    read_reference(attachment_rgba8, expected);
    for (int64_t i = 0; i < shape[0] * TILE_HEIGHT; i++) {
        const int64_t row = i / TILE_HEIGHT / COLUMNS * TILE_HEIGHT + i % TILE_HEIGHT;
        const int64_t y = 1 + (flip ? 2 * TILE_HEIGHT - 1 - row : row);
        const int64_t x = 1 + i / TILE_HEIGHT % COLUMNS * TILE_WIDTH;
        ck_assert_mem_eq(fetched + i * ROW, expected + (y * WIDTH + x) * 4, ROW);
    }
    tensors_end();
}

TEST(wrong_arguments_are_refused)
{
    GR_AUTO(gr_resource) *staging = gr_create_gl_buffer(800, GR_READ_ONLY, NULL);
    GR_AUTO(gr_resource) *other = gr_create_gl_buffer(800, GR_READ_ONLY, NULL);
    const gr_framebuffer_options first = GR_INIT(gr_framebuffer_options, .staging = staging),
                                 second = GR_INIT(gr_framebuffer_options, .staging = other),
                                 depth = GR_INIT(gr_framebuffer_options, .z_near = 1, .z_far = 2);
    const gr_framebuffer_options *const two[] = {&first, &second}, *const small[] = {NULL, &first},
                                        *const distance[] = {NULL, &depth};
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    gr_tensor *to = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    gr_tensor *const tensors[] = {to, new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 3)};
    gr_tensor *const missing[] = {to, NULL};
    const struct {
        gr_tensor *const *tensors;
        const gr_framebuffer_options *const *options;
        size_t n;
        const char *text;
    } rows[] = {
        {tensors, NULL, 0, "0 attachments"},
        {tensors, NULL, 17, "17 attachments"},
        {NULL, NULL, 1, "`tensors` is NULL"},
        {missing, NULL, 2, "tensor is NULL"},
        {tensors, two, 2, "two `staging` buffers"},
        {tensors, small, 2, "of each attachment need 1300 bytes"},
        {tensors, distance, 2, "are for depth"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_invalid(gr_fetch_framebuffer_many(framebuffer, rows[i].tensors, rows[i].options,
                                                 rows[i].n, fx.stream),
                       rows[i].text);
    download_tensor(to);
    assert_bytes(fetched, (size_t)WIDTH * HEIGHT * 4, 0xee);
}

GROUP("copies", add_fetch_case, add_read_pixels_case)

/* CUDA reads four frames with one map. */
TEST(frames_in_a_ring_are_read_in_a_batch)
{
    enum { FRAMES = 4, SLOTS = 6 };
    static const int64_t shape[] = {HEIGHT, WIDTH, 4};
    const gr_tensor_desc pixels =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3, .shape = shape, .offset = 8);
    const gr_publish_options conversion = GR_INIT(gr_publish_options, .target = &pixels);
    const gr_ring_options by_graphics = GR_INIT(gr_ring_options, .producer = GR_SIDE_GRAPHICS);
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    gr_resource *resources[SLOTS];
    const gr_slot *slots[FRAMES];
    gr_tensor *frames[FRAMES];
    for (int i = 0; i < SLOTS; i++)
        resources[i] = must_make(gr_create_gl_buffer(MOST_BYTES, GR_READ_ONLY, NULL));
    GR_AUTO(gr_ring) *ring = must_make(gr_ring_create(resources, SLOTS, &by_graphics));
    free_resources(resources, SLOTS);
    for (unsigned i = 0; i < FRAMES; i++) {
        clear_framebuffer(attachment_rgba8, 20 * i);
        assert_ok(gr_ring_acquire_write(ring, GR_STREAM_NONE, slots, 1, 0));
        assert_ok(gr_copy_framebuffer(framebuffer, slots[0]->resource, 8, NULL));
        assert_ok(gr_ring_hand_over(ring, slots, 1));
        frames[i] = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    }
    ck_assert_uint_eq(dispatches, has_shader ? FRAMES : 0);
    assert_ok(gr_ring_acquire_read(ring, fx.stream, slots, FRAMES, 0));
    for (unsigned i = 0; i < FRAMES; i++)
        assert_ok(gr_buffer_fetch(slots[i]->buffer, frames[i], &conversion, fx.stream));
    assert_ok(gr_ring_give_back(ring, slots, FRAMES));
    for (unsigned i = 0; i < FRAMES; i++) {
        download_tensor(frames[i]);
        ck_assert_int_eq(fetched[0], (int)(20 * i));
        ck_assert_int_eq(fetched[WIDTH * HEIGHT * 4 - 4], (int)(20 * i));
    }
}

TEST(wrong_copies_are_refused)
{
    const gr_publish_options conversion = GR_INIT(gr_publish_options, .flip = true);
    GR_AUTO(gr_resource) *buffer = gr_create_gl_buffer(MOST_BYTES, GR_READ_ONLY, NULL);
    GR_AUTO(gr_resource) *discards = gr_create_gl_buffer(MOST_BYTES, GR_WRITE_DISCARD, NULL);
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    const struct {
        gr_framebuffer_options options;
        size_t offset;
        const char *text;
    } rows[] = {
        {{.z_near = 1, .z_far = 2}, 0, "`z_near` does not apply to a copy"},
        {{.conversion = &conversion}, 0, "`conversion` does not apply"},
        {{.staging = buffer}, 0, "`staging` does not apply"},
        {{.attachment = GL_DEPTH_ATTACHMENT}, 0, "has nothing to read"},
        {{.x = WIDTH}, 0, "is not inside"},
        {{.x = 0}, 6, "not a multiple of 4"},
        {{.x = 0}, MOST_BYTES, "The size of `buffer` is"},
        {{.x = 0}, SIZE_MAX - 3, "but the offset is"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        gr_framebuffer_options options = rows[i].options;
        options.struct_size = sizeof(options);
        assert_invalid(gr_copy_framebuffer(framebuffer, buffer, rows[i].offset, &options),
                       rows[i].text);
    }
    assert_fails(gr_copy_framebuffer(framebuffer, discards, 0, NULL), GR_ERR_STATE, 0,
                 "write_discard");
    gr_buffer *mapped = must_make(gr_map(buffer, fx.stream));
    assert_fails(gr_copy_framebuffer(framebuffer, buffer, 0, NULL), GR_ERR_STATE, 0, "is mapped");
    assert_ok(gr_buffer_release(mapped));
}

/* Catches: OpenGL wrote to the buffer that has the name in the other context. */
TEST(shared_buffers_of_another_context_are_refused)
{
    const size_t size = (size_t)WIDTH * HEIGHT * 4;
    GR_AUTO(gr_resource) *buffer = must_make(gr_create_gl_buffer(size, GR_READ_ONLY, NULL));
    const gr_framebuffer_options staged = GR_INIT(gr_framebuffer_options, .staging = buffer);
    gr_tensor *to = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    gr_egl *stranger = must_make(gr_egl_create(NULL));
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    while (gl_buffer_filled(size, 0xee) < gr_gl_name(buffer))
        continue;
    assert_fails(gr_copy_framebuffer(framebuffer, buffer, 0, NULL), GR_ERR_GL, 0,
                 "was registered in another context");
    assert_fails(gr_fetch_framebuffer(framebuffer, to, &staged, fx.stream), GR_ERR_GL, 0,
                 "was registered in another context");
    assert_gl_bytes(gr_gl_name(buffer), size, 0xee);
    gr_egl_free(stranger);
    assert_ok(gr_egl_make_current(fx.egl));
}

/*
 * Any thread may use the CUDA side of a ring of shared buffers. Catches: OpenGL, which had no
 * buffer of that name, wrote to the address 0 instead.
 */
TEST(slots_of_another_context_are_refused)
{
    const gr_ring_options by_graphics = GR_INIT(gr_ring_options, .producer = GR_SIDE_GRAPHICS);
    const gr_slot *slot;
    gr_resource *resources[2];
    for (int i = 0; i < 2; i++)
        resources[i] = must_make(gr_create_gl_buffer(MOST_BYTES, GR_READ_ONLY, NULL));
    GR_AUTO(gr_ring) *ring = must_make(gr_ring_create(resources, 2, &by_graphics));
    free_resources(resources, 2);
    assert_ok(gr_ring_acquire_write(ring, GR_STREAM_NONE, &slot, 1, 0));
    gr_egl *stranger = must_make(gr_egl_create(NULL));
    assert_fails(
        gr_copy_framebuffer(make_framebuffer(attachment_rgba8, 0), slot->resource, 0, NULL),
        GR_ERR_GL, 0, "was registered in another context");
    gr_egl_free(stranger);
    assert_ok(gr_egl_make_current(fx.egl));
    assert_ok(gr_copy_framebuffer(make_framebuffer(attachment_rgba8, 0), slot->resource, 0, NULL));
    assert_ok(gr_ring_hand_over(ring, &slot, 1));
}
