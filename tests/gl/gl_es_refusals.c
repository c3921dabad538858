/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What OpenGL ES lacks is refused by name, and with the way out. */
#include "gl_es.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <grinterop/framebuffer.h>
#include <grinterop/publish.h>
#include <grinterop/share.h>

GROUP("refusals", add_es_case)

TEST(objects_are_not_created)
{
    const gr_gl_image_desc desc = GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D,
                                          .internal_format = GL_RGBA8, .width = 8, .height = 8);
    gr_gl_image_desc depth = desc;
    depth.internal_format = GL_DEPTH_COMPONENT24;
    const gr_gl_options created[] = {by_sharing,
                                     GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_PEER),
                                     GR_INIT(gr_gl_options, .in_flight = 4)};
    assert_null(gr_create_gl_buffer(64, GR_READ_WRITE, NULL), GR_ERR_UNSUPPORTED, 0,
                "Creating objects needs direct state access, which OpenGL ES does not have. Use "
                "gr_from_gl_buffer()");
    assert_null(gr_create_gl_image(&desc, 0, NULL), GR_ERR_UNSUPPORTED, 0, "gr_from_gl_image()");
    for (size_t i = 0; i < sizeof(created) / sizeof(created[0]); i++)
        assert_null(gr_create_gl_image(&depth, GR_WRITE_DISCARD, &created[i]), GR_ERR_UNSUPPORTED,
                    0, "Creating objects needs direct state access");
    const int64_t size = 64;
    GR_AUTO(gr_tensor) *tensor = must_alloc(GR_DTYPE_U8, GR_MEMORY_DEVICE, 1, &size);
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
    GR_AUTO(gr_tensor) *tensor = must_alloc(GR_DTYPE_U8, GR_MEMORY_DEVICE, 3, shape);
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

/* ---- Ways out: each message names one that works in OpenGL ES ------------------------------- */

/* The message must name the way out, and none that OpenGL ES refuses as well. */
static void assert_way_out(const char *text)
{
    static const char *const refused[] = {"gr_fetch_framebuffer", "gr_create_gl", "NVIDIA driver"};
    const char *message = gr_last_error()->message;
    assert_error(GR_ERR_UNSUPPORTED, 0, text);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        ck_assert_msg(!strstr(message, refused[i]), "%s", message);
    gr_clear_error();
}

static void assert_refused(const struct image *image, const gr_gl_options *options,
                           const char *text)
{
    gr_clear_error();
    ck_assert_ptr_null(
        gr_from_gl_image_with(image->name, image->target->target, GR_READ_WRITE, options));
    assert_way_out(text);
}

/* A format is refused by the transport, and another is named that the transport accepts. */
static const struct {
    const char *format, *other;
    const gr_gl_options *way;
    const char *text;
} formats[] = {
    {"RGB8", "RGBA8", &by_interop, "does not accept 3 channels from OpenGL ES. Use GL_RGBA8."},
    {"SRGB8", "SRGB8_ALPHA8", &by_interop, "3 channels from OpenGL ES. Use GL_SRGB8_ALPHA8."},
    {"RGB32F", "RGBA32F", &by_interop,
     "does not accept 3 channels from OpenGL ES. Use GL_RGBA32F."},
    {"RGB16I", "RGBA16I", &by_interop,
     "does not accept 3 channels from OpenGL ES. Use GL_RGBA16I."},
    {"RGB8", "RGBA8", &by_copy,
     "cannot write its texels as CUDA has them. Use GR_READ_ONLY, or "
     "GL_RGBA8."},
    {"RGB32F", "RGBA32F", &by_copy, "cannot read its texels as CUDA has them. Use GL_RGBA32F."},
    {"RGB10_A2", "RGBA16F", &by_interop, "Use GL_RGBA16F, or GR_TRANSPORT_COPY in "},
    {"R11F_G11F_B10F", "RGBA16F", &by_interop, "Use GL_RGBA16F."},
    {"RGB9_E5", "RGBA16F", &by_interop, "Use GL_RGBA16F."},
    {"RGB9_E5", "RGBA32F", &by_copy, "Use GR_WRITE_DISCARD, or GL_RGBA32F."},
    {"RGB565", "RGBA8", &by_interop, "Use GL_RGBA8."},
    {"DEPTH_COMPONENT24", "R32F", &by_interop,
     "depth from OpenGL. Use a GL_R32F texture that a shader copies the depth into."},
    {"DEPTH24_STENCIL8", "R32F", &by_interop,
     "Use a GL_R32F texture that a shader copies the depth into."},
    {"DEPTH_COMPONENT24", "R32F", &by_copy,
     "cannot read depth. Use a GL_R32F texture that a shader copies the depth into."},
};

TEST(another_format_is_named_that_works, sizeof(formats) / sizeof(formats[0]))
{
    if (strstr(formats[_i].text, "3 channels") && !gr_cuda_is_software())
        skip("the NVIDIA driver may accept 3 channels");
    const struct image image = image_make(formats[_i].format, "2D", 8, 8, 1);
    assert_refused(&image, formats[_i].way, formats[_i].text);
    assert_gl_clean();
    es_check_image(formats[_i].other, "2D", 1, formats[_i].way);
}

TEST(srgb_of_three_channels_is_refused_as_the_driver_does)
{
    const struct image image = image_make("SRGB8", "2D", 8, 8, 1);
    assert_refused(&image, &by_copy,
                   gr_cuda_is_software()
                       ? "cannot read its texels as CUDA has them. Use GL_SRGB8_ALPHA8."
                       : "cannot write its texels as CUDA has them. Use GR_READ_ONLY, or "
                         "GL_SRGB8_ALPHA8.");
    assert_gl_clean();
    es_check_image("SRGB8_ALPHA8", "2D", 1, &by_copy);
}

TEST(flags_are_named_that_work)
{
    const struct image three = image_make("RGB8", "2D", 8, 8, 1);
    gr_resource_free(
        must_make(gr_from_gl_image_with(three.name, GL_TEXTURE_2D, GR_READ_ONLY, &by_copy)));
    const struct image packed = image_make("RGB9_E5", "2D", 8, 8, 1);
    gr_resource_free(
        must_make(gr_from_gl_image_with(packed.name, GL_TEXTURE_2D, GR_WRITE_DISCARD, &by_copy)));
    es_check_image("RGB10_A2", "2D", 1, &by_copy);
}

TEST(existing_storage_is_not_shared_but_registered_or_copied)
{
    static const gr_gl_options packed = {.struct_size = sizeof(packed), .packed = true};
    const struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    const GLuint name = gl_buffer_filled(64, 1);
    assert_refused(&image, &by_sharing, "Allow GR_TRANSPORT_INTEROP or GR_TRANSPORT_COPY.");
    ck_assert_ptr_null(gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_sharing));
    assert_way_out("Allow GR_TRANSPORT_INTEROP or GR_TRANSPORT_COPY.");
    ck_assert_ptr_null(gr_from_gl_buffer_with(name, GR_READ_WRITE, &packed));
    assert_way_out("leave it false");
}

TEST(samples_are_resolved_by_opengl_es)
{
    const struct image texture = image_make("RGBA8", "2D_MS", 8, 8, 1),
                       renderbuffer = image_make("RGBA8", "RENDERBUFFER_MS", 8, 8, 1);
    assert_refused(&texture, NULL, "Use a GL_TEXTURE_2D that glBlitFramebuffer resolves it into.");
    assert_refused(&renderbuffer, NULL, "with one sample that glBlitFramebuffer resolves it into.");
}

TEST(frames_in_flight_of_depth_have_the_way_out_of_depth)
{
    static const gr_gl_options frames = {.struct_size = sizeof(frames), .in_flight = 4};
    const struct image image = image_make("DEPTH_COMPONENT24", "2D", 8, 8, 1);
    gr_clear_error();
    ck_assert_ptr_null(gr_from_gl_image_with(image.name, GL_TEXTURE_2D, GR_READ_ONLY, &frames));
    assert_way_out("Use a GL_R32F texture that a shader copies the depth into.");
}

TEST(sending_names_what_opengl_es_lacks)
{
    int ends[2];
    GR_AUTO(gr_resource) *resource = must_register(gl_buffer_filled(64, 1));
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_fails(gr_resource_send(ends[0], resource, NULL, 0, 1000), GR_ERR_UNSUPPORTED, 0,
                 "with GR_TRANSPORT_SHARED (not in OpenGL ES), by gr_create_vk_buffer()");
    close(ends[0]);
    close(ends[1]);
}
