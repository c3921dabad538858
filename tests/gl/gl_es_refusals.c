/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What OpenGL ES lacks is refused by name, and with the way out. */
#include "gl_es.h"

#include <string.h>

#include <grinterop/framebuffer.h>
#include <grinterop/publish.h>
#include <grinterop/tensor.h>

GROUP("refusals", add_es_case)

TEST(objects_are_not_created)
{
    const gr_gl_image_desc desc = GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D,
                                          .internal_format = GL_RGBA8, .width = 8, .height = 8);
    assert_null(gr_create_gl_buffer(64, GR_READ_WRITE, NULL), GR_ERR_UNSUPPORTED, 0,
                "Creating objects needs direct state access, which OpenGL ES does not have. Use "
                "gr_from_gl_buffer()");
    assert_null(gr_create_gl_image(&desc, 0, NULL), GR_ERR_UNSUPPORTED, 0, "gr_from_gl_image()");
    assert_null(gr_create_gl_buffer(64, GR_READ_WRITE, &by_sharing), GR_ERR_UNSUPPORTED, 0,
                "GR_TRANSPORT_INTEROP or GR_TRANSPORT_COPY");
    const int64_t size = 64;
    GR_AUTO(gr_tensor) *tensor = must_make(gr_tensor_create(
        &GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = &size), fx.stream));
    assert_null(gr_create_gl_buffer_of(tensor, GR_READ_WRITE, NULL), GR_ERR_UNSUPPORTED, 0,
                "A buffer in the memory of a tensor needs direct state access, which OpenGL ES "
                "does not have. Use gr_publish() with a buffer of gr_from_gl_buffer(), or a "
                "context of OpenGL");
    const GLuint name = gl_buffer_filled(64, 1);
    GR_AUTO(gr_resource) *buffer = must_register(name);
    CU(MemsetD8Async(gr_tensor_get_info(tensor)->ptr, 7, 64, fx.stream));
    assert_ok(gr_publish(buffer, tensor, NULL, fx.stream));
    assert_gl_bytes(name, 64, 7);
    ck_assert(!gr_gl_probe(GR_TRANSPORT_SHARED)->usable);
    ck_assert(!gr_gl_probe(GR_TRANSPORT_PEER)->usable);
    ck_assert(gr_gl_probe(GR_TRANSPORT_COPY)->usable);
    ck_assert(gr_gl_probe(GR_TRANSPORT_INTEROP)->usable);
}

TEST(peer_is_refused_and_frames_in_flight_use_interop)
{
    static const gr_gl_options peer = {.struct_size = sizeof(peer),
                                       .transports = GR_TRANSPORT_PEER};
    static const gr_gl_options frames = {.struct_size = sizeof(frames), .in_flight = 4};
    GLuint name = gl_buffer_filled(64, 1);
    char text[512];
    assert_null(gr_from_gl_buffer_with(name, GR_READ_WRITE, &peer), GR_ERR_UNSUPPORTED, -1,
                "Sharing storage (GR_TRANSPORT_SHARED, GR_TRANSPORT_PEER) needs");
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_buffer_with(name, GR_WRITE_DISCARD, &frames));
    gr_resource_describe(resource, text, sizeof(text));
    ck_assert_msg(strstr(text, "interop") && strstr(text, "`in_flight` needs"), "%s", text);
}

TEST(framebuffers_are_not_read)
{
    const int64_t shape[] = {8, 8, 4};
    GR_AUTO(gr_tensor) *tensor = must_make(gr_tensor_create(
        &GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3, .shape = shape), fx.stream));
    GR_AUTO(gr_resource) *buffer = must_register(gl_buffer_filled(256, 0));
    assert_fails(gr_fetch_framebuffer(0, tensor, NULL, fx.stream), GR_ERR_UNSUPPORTED, 0,
                 "gr_from_gl_image() with the texture that is attached");
    assert_fails(gr_copy_framebuffer(0, buffer, 0, NULL), GR_ERR_UNSUPPORTED, 0,
                 "Reading framebuffers needs glClampColor and direct state access, which OpenGL ES "
                 "does not have");
}

TEST(targets_that_opengl_es_lacks_are_refused)
{
    const struct image image = image_filled("RGBA8", "2D", 8, 8, 1, 1);
    assert_null(gr_from_gl_image(image.name, GL_TEXTURE_RECTANGLE, 0), GR_ERR_UNSUPPORTED, 0,
                "GL_TEXTURE_RECTANGLE, which OpenGL ES does not have. Use a GL_TEXTURE_2D");
    assert_null(gr_from_gl_image(image.name, GL_TEXTURE_1D, 0), GR_ERR_UNSUPPORTED, 0,
                "a GL_TEXTURE_2D of height 1");
    assert_null_invalid(gr_from_gl_image(image.name, GL_TEXTURE_3D, 0), "pass its own target");
}

TEST(images_that_opengl_es_cannot_copy_are_refused)
{
    static const struct {
        const char *format, *text;
    } refused[] = {{"RGB8", "OpenGL ES cannot write its texels as CUDA has them"},
                   {"RGB32F", "OpenGL ES cannot read its texels as CUDA has them"},
                   {"DEPTH_COMPONENT24", "OpenGL ES cannot read depth"}};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        const struct image image = image_make(refused[i].format, "2D", 8, 8, 1);
        assert_null(gr_from_gl_image_with(image.name, GL_TEXTURE_2D, 0, &by_copy),
                    GR_ERR_UNSUPPORTED, 0, refused[i].text);
        assert_gl_clean();
    }
}
