/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * How a transport is chosen: the only allowed one, or a fallback with its reason. Also the results
 * and side effects of the probe.
 */
#include "gl_copy_tests.h"

#include <stdio.h>
#include <string.h>

#define SIZE 4096

#define REGISTER       "cuGraphicsGLRegisterBuffer"
#define REGISTER_IMAGE "cuGraphicsGLRegisterImage"
#define DEVICES        "cuGLGetDevices"

#define BY(bits)                                                                                   \
    {                                                                                              \
        .struct_size = sizeof(gr_gl_options), .transports = (bits)                                 \
    }
static const gr_gl_options by_default = BY(0);

static void refuse_next(const char *function, CUresult code)
{
    ck_assert_msg(fault->set(function, (int)code, 0), "%s can't fail", function);
}

GROUP("forced transports", add_copy_case)

TEST(the_only_allowed_transport_is_used)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *interop =
        must_make(gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_interop));
    ck_assert_int_eq(gr_resource_get_info(interop)->transport, GR_TRANSPORT_INTEROP);
    assert_calls(REGISTER, 1);
    GR_AUTO(gr_resource) *copy = must_make(gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_copy));
    ck_assert_int_eq(gr_resource_get_info(copy)->transport, GR_TRANSPORT_COPY);
    assert_calls(REGISTER, 1);
    assert_described(interop, "transport interop");
    assert_described(copy, "transport copy");
    ck_assert_uint_eq(gr_gl_name(copy), name);
    ck_assert_uint_eq(gr_gl_target(copy), GL_ARRAY_BUFFER);
    assert_ok(gr_resource_close(copy, GR_STREAM_OF_MAP));
    ck_assert(gr_resource_get_info(copy)->closed);
}

TEST(the_only_allowed_transport_has_no_fallback)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    refuse_next(REGISTER, CUDA_ERROR_OPERATING_SYSTEM);
    assert_null(gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_interop), GR_ERR_CUDA,
                CUDA_ERROR_OPERATING_SYSTEM, "OpenGL draws on");
    refuse_next(REGISTER_IMAGE, CUDA_ERROR_OPERATING_SYSTEM);
    assert_null(gr_from_gl_image_with(image.name, GL_TEXTURE_2D, GR_READ_WRITE, &by_interop),
                GR_ERR_CUDA, CUDA_ERROR_OPERATING_SYSTEM, "OpenGL draws on");
    assert_null(gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_sharing), GR_ERR_UNSUPPORTED, 0,
                "gr_create_gl_buffer");
    assert_null(gr_from_gl_image_with(image.name, GL_TEXTURE_2D, GR_READ_WRITE, &by_sharing),
                GR_ERR_UNSUPPORTED, 0, "gr_create_gl_image");
    const gr_gl_options external = BY(GR_TRANSPORT_EXTERNAL),
                        neither = BY(GR_TRANSPORT_EXTERNAL | GR_TRANSPORT_SHARED), unknown = BY(32),
                        peer = BY(GR_TRANSPORT_PEER);
    assert_null(gr_from_gl_buffer_with(name, GR_READ_WRITE, &external), GR_ERR_UNSUPPORTED, 0,
                "vk.h");
    assert_null(gr_from_gl_buffer_with(name, GR_READ_WRITE, &neither), GR_ERR_UNSUPPORTED, 0,
                "gr_create_gl_buffer");
    assert_null(gr_create_gl_buffer(SIZE, GR_READ_WRITE, &external), GR_ERR_UNSUPPORTED, 0, "vk.h");
    assert_null(gr_create_gl_buffer(SIZE, GR_READ_WRITE, &peer), GR_ERR_UNSUPPORTED, 0,
                "GR_TRANSPORT_SHARED");
    assert_null_invalid(gr_from_gl_buffer_with(name, GR_READ_WRITE, &unknown), "GR_TRANSPORT_ANY");
}

/*
 * Catches: with NULL as options the copy transport was used, although gr_from_gl_buffer() refuses.
 */
TEST(default_options_equal_no_options)
{
    static const gr_gl_options *const defaults[] = {NULL, &by_default, &by_interop};
    GLuint name = gl_buffer_pattern(SIZE, 1);
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    refuse_next(REGISTER, CUDA_ERROR_OPERATING_SYSTEM);
    assert_null(gr_from_gl_buffer(name, GR_READ_WRITE), GR_ERR_CUDA, CUDA_ERROR_OPERATING_SYSTEM,
                "GR_TRANSPORT_COPY");
    for (int i = 0; i < 3; i++) {
        refuse_next(REGISTER, CUDA_ERROR_OPERATING_SYSTEM);
        assert_null(gr_from_gl_buffer_with(name, GR_READ_WRITE, defaults[i]), GR_ERR_CUDA,
                    CUDA_ERROR_OPERATING_SYSTEM, "GR_TRANSPORT_COPY");
        refuse_next(REGISTER_IMAGE, CUDA_ERROR_OPERATING_SYSTEM);
        assert_null(gr_from_gl_image_with(image.name, GL_TEXTURE_2D, GR_READ_WRITE, defaults[i]),
                    GR_ERR_CUDA, CUDA_ERROR_OPERATING_SYSTEM, "GR_TRANSPORT_COPY");
        GR_AUTO(gr_resource) *resource =
            must_make(gr_from_gl_buffer_with(name, GR_READ_WRITE, defaults[i]));
        ck_assert_int_eq(gr_resource_get_info(resource)->transport, GR_TRANSPORT_INTEROP);
    }
}

/* The copy transport makes the same checks as interop. */
TEST(copy_refuses_what_interop_refuses)
{
    GLuint deleted = gl_buffer_filled(SIZE, 1), empty = gl_buffer(NULL, 0);
    GLuint name = gl_buffer_filled(SIZE, 1);
    glDeleteBuffers(1, &deleted);
    assert_null_invalid(gr_from_gl_buffer_with(0, GR_READ_WRITE, &by_copy), "is 0");
    assert_null_invalid(gr_from_gl_buffer_with(deleted, GR_READ_WRITE, &by_copy),
                        "no OpenGL buffer");
    assert_null_invalid(gr_from_gl_buffer_with(empty, GR_READ_WRITE, &by_copy), "no storage");
    assert_null_invalid(gr_from_gl_buffer_with(name, 0x100, &by_copy), "");
    assert_null_invalid(gr_from_gl_image_with(0, GL_TEXTURE_2D, GR_READ_WRITE, &by_copy), "is 0");
    assert_ok(gr_egl_make_current(NULL));
    assert_null(gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_copy), GR_ERR_GL, 0,
                "No OpenGL context");
    assert_ok(gr_egl_make_current(fx.egl));
}

GROUP("choice of a transport", add_copy_case)

ONE_DEVICE_TEST(transport_any_selects_interop)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    GR_AUTO(gr_resource) *buffer = must_make(gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_any));
    GR_AUTO(gr_resource) *texture =
        must_make(gr_from_gl_image_with(image.name, GL_TEXTURE_2D, GR_READ_WRITE, &by_any));
    ck_assert_int_eq(gr_resource_get_info(buffer)->transport, GR_TRANSPORT_INTEROP);
    ck_assert_int_eq(gr_resource_get_info(texture)->transport, GR_TRANSPORT_INTEROP);
}

static char logged[4096];

static void keep_line(void *user, gr_log_level level, const char *line)
{
    (void)user;
    ck_assert_int_ge(level, GR_LOG_ERROR);
    strncat(logged, level == GR_LOG_ERROR ? "an error: " : "", sizeof(logged) - strlen(logged) - 1);
    strncat(logged, line, sizeof(logged) - strlen(logged) - 1);
    strncat(logged, "\n", sizeof(logged) - strlen(logged) - 1);
}

/* Interop failed with this code, and the next transport works. */
static void assert_fell_back(const gr_resource *resource, gr_transport transport, const char *code)
{
    gr_log_remove(keep_line, NULL);
    assert_made(resource);
    ck_assert_int_eq(gr_last_error()->status, GR_OK);
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, transport);
    assert_described(resource, transport == GR_TRANSPORT_PEER
                                   ? "transport peer (interop was not chosen: "
                                   : "transport copy (interop was not chosen: ");
    assert_described(resource, code);
    assert_described(resource, "OpenGL draws on ");
    assert_described(resource, "CUDA computes on ");
    ck_assert_msg(strstr(logged, "interop was not chosen") && strstr(logged, code), "logged: %s",
                  logged);
    ck_assert_msg(!strstr(logged, "an error: "), "logged: %s", logged);
}

/*
 * These codes mean that the device is the cause. They lead to a fallback whatever the driver
 * reports about devices.
 */
ONE_DEVICE_TEST(transport_any_falls_back_if_another_device_draws)
{
    static const struct {
        CUresult code;
        const char *name;
    } codes[] = {
        {CUDA_ERROR_OPERATING_SYSTEM, "CUDA_ERROR_OPERATING_SYSTEM"},
        {CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT"},
        {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN"},
    };
    for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
        GLuint name = gl_buffer_pattern(SIZE, 1);
        struct image image = image_filled("RGBA8", "2D", 8, 8, 1, 1);
        gr_clear_error();
        logged[0] = '\0';
        gr_log_add(GR_LOG_INFO, keep_line, NULL);
        refuse_next(REGISTER, codes[i].code);
        GR_AUTO(gr_resource) *resource = gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_any);
        assert_fell_back(resource, GR_TRANSPORT_PEER, codes[i].name);
        gr_log_add(GR_LOG_INFO, keep_line, NULL);
        refuse_next(REGISTER_IMAGE, codes[i].code);
        GR_AUTO(gr_resource) *texture =
            gr_from_gl_image_with(image.name, GL_TEXTURE_2D, GR_READ_WRITE, &by_any);
        assert_fell_back(texture, GR_TRANSPORT_PEER, codes[i].name);

        go_round(resource, SIZE, 1);
        assert_ok(gr_buffer_release(must_map_image(texture)));
        assert_image(&image, 1);
    }
}

/*
 * If this device draws, the code means wrong arguments. If another device draws, the same code
 * means a wrong device.
 */
ONE_DEVICE_TEST(transport_any_falls_back_unless_the_object_is_the_cause)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    refuse_next(REGISTER, CUDA_ERROR_INVALID_VALUE);
    assert_null(gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_any), GR_ERR_CUDA,
                CUDA_ERROR_INVALID_VALUE, "refused");
    logged[0] = '\0';
    gr_log_add(GR_LOG_INFO, keep_line, NULL);
    /* peer queries the devices, too, before the query that matters here */
    GR_AUTO(gr_resource) *resource = NULL;
    for (long after = 0; after < 6 && !resource; after++) {
        gr_clear_error();
        let_fail(DEVICES, CUDA_ERROR_OPERATING_SYSTEM, after);
        refuse_next(REGISTER, CUDA_ERROR_INVALID_VALUE);
        logged[0] = '\0';
        resource = gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_any);
    }
    assert_fell_back(resource, GR_TRANSPORT_PEER, "CUDA_ERROR_INVALID_VALUE");
}

/* Each transport allocates other memory. Catches: created objects did not fall back. */
ONE_DEVICE_TEST(transports_without_memory_fall_back)
{
    const gr_gl_options plain = BY(GR_TRANSPORT_INTEROP | GR_TRANSPORT_COPY);
    GLuint name = gl_buffer_pattern(SIZE, 1);
    logged[0] = '\0';
    gr_log_add(GR_LOG_INFO, keep_line, NULL);
    refuse_next(REGISTER, CUDA_ERROR_OUT_OF_MEMORY);
    GR_AUTO(gr_resource) *resource = gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_any);
    assert_fell_back(resource, GR_TRANSPORT_PEER, "CUDA_ERROR_OUT_OF_MEMORY");
    gr_log_add(GR_LOG_INFO, keep_line, NULL);
    refuse_next(REGISTER, CUDA_ERROR_OUT_OF_MEMORY);
    GR_AUTO(gr_resource) *created = gr_create_gl_buffer(SIZE, GR_READ_WRITE, &plain);
    assert_fell_back(created, GR_TRANSPORT_COPY, "CUDA_ERROR_OUT_OF_MEMORY");
    refuse_next("cuMemCreate", CUDA_ERROR_OUT_OF_MEMORY);
    GR_AUTO(gr_resource) *unshared = must_make(gr_create_gl_buffer(SIZE, GR_READ_WRITE, NULL));
    ck_assert_int_eq(gr_resource_get_info(unshared)->transport, GR_TRANSPORT_INTEROP);
    assert_described(unshared, "transport interop (shared was not chosen: ");
    write_mapped(unshared, 3);
    assert_gl_pattern(gr_gl_name(unshared), SIZE, 3);
}

TEST(transport_any_works_without_a_current_cuda_context)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    logged[0] = '\0';
    gr_log_add(GR_LOG_INFO, keep_line, NULL);
    CU(CtxSetCurrent(NULL));
    refuse_next(DEVICES, CUDA_ERROR_OPERATING_SYSTEM);
    GR_AUTO(gr_resource) *resource = gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_any);
    assert_fell_back(resource, GR_TRANSPORT_PEER, "CUDA_ERROR_OPERATING_SYSTEM by cuGLGetDevices");
    gr_buffer *buffer = must_make(gr_map(resource, CU_STREAM_PER_THREAD));
    ck_assert_ptr_null(current_context());
    assert_ok(gr_buffer_release(buffer));
    CU(CtxSetCurrent(fx.context));
}

TEST(transport_any_refuses_wrong_arguments_without_a_fallback)
{
    struct image depth = image_make("DEPTH24_STENCIL8", "2D", 8, 8, 1);
    assert_null_invalid(gr_from_gl_buffer_with(0, GR_READ_WRITE, &by_any), "is 0");
    assert_null(gr_from_gl_image_with(depth.name, GL_TEXTURE_2D, GR_READ_WRITE, &by_any),
                GR_ERR_UNSUPPORTED, 0, "depth");
    assert_calls(REGISTER, 0);
    assert_calls(REGISTER_IMAGE, 0);
}

/* Creates storage while neither sharing nor registering works. */
static gr_resource *create_elsewhere(const gr_gl_options *options)
{
    fault->reset();
    refuse_next(DEVICES, CUDA_ERROR_OPERATING_SYSTEM);
    refuse_next(REGISTER, CUDA_ERROR_OPERATING_SYSTEM);
    return gr_create_gl_buffer(SIZE, GR_READ_WRITE, options);
}

TEST(created_objects_need_frames_in_flight_for_peer)
{
    const gr_gl_options peer = BY(GR_TRANSPORT_PEER);
    assert_null(gr_create_gl_buffer(SIZE, GR_WRITE_DISCARD, &peer), GR_ERR_UNSUPPORTED, 0,
                "GR_TRANSPORT_PEER needs `in_flight`");
}

/* Catches: each transport that failed was logged as an error, although the next one worked. */
TEST(created_buffers_are_copied_only_if_copy_is_allowed)
{
    const gr_gl_options uncopied = BY(GR_TRANSPORT_SHARED | GR_TRANSPORT_INTEROP);
    const gr_gl_options *const refused[] = {NULL, &by_default, &uncopied, &by_interop};
    for (int i = 0; i < 4; i++)
        assert_null(create_elsewhere(refused[i]), GR_ERR_CUDA, CUDA_ERROR_OPERATING_SYSTEM,
                    "GR_TRANSPORT_COPY");
    GR_AUTO(gr_resource) *resource = must_make(create_elsewhere(&by_any));
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, GR_TRANSPORT_COPY);
    assert_described(resource, "transport copy (shared was not chosen: ");

    logged[0] = '\0';
    gr_log_add(GR_LOG_INFO, keep_line, NULL);
    GR_AUTO(gr_resource) *quiet = create_elsewhere(&by_any);
    ck_assert_msg(quiet && strstr(logged, "transport shared failed") &&
                      !strstr(logged, "an error: "),
                  "logged: %s", logged);
    logged[0] = '\0';
    ck_assert_ptr_null(create_elsewhere(&uncopied));
    gr_log_remove(keep_line, NULL);
    const char *error = strstr(logged, "an error: ");
    ck_assert_msg(error && !strstr(error + 1, "an error: "), "not one error: %s", logged);

    const gr_gl_options plain = BY(GR_TRANSPORT_INTEROP | GR_TRANSPORT_COPY);
    GR_AUTO(gr_resource) *other = must_make(create_elsewhere(&plain));
    assert_described(other, "transport copy (interop was not chosen: ");
    write_mapped(other, 3);
    assert_gl_pattern(gr_gl_name(other), SIZE, 3);
}

GROUP("probe", add_copy_case)

static const gr_transport_info *must_probe(gr_transport transport)
{
    const gr_transport_info *info = must_make(gr_gl_probe(transport));
    ck_assert_int_eq(info->transport, transport);
    ck_assert_uint_gt(strlen(info->reason), 20);
    return info;
}

TEST(probe_reports_usable_transports_with_the_reason)
{
    const gr_transport_info *interop = must_probe(GR_TRANSPORT_INTEROP);
    const gr_transport_info *shared = must_probe(GR_TRANSPORT_SHARED);
    const gr_transport_info *copy = must_probe(GR_TRANSPORT_COPY);
    ck_assert_msg(interop->usable, "%s", interop->reason);
    ck_assert_ptr_nonnull(strstr(interop->reason, (const char *)glGetString(GL_RENDERER)));
    ck_assert_ptr_nonnull(strstr(interop->reason, "UUID GPU-"));
    ck_assert_int_eq(shared->transport, GR_TRANSPORT_SHARED);
    ck_assert(copy->usable);
    ck_assert_ptr_nonnull(strstr(copy->reason, "write_discard objects of up to 256 KiB"));
}

/* The group pretends that OpenGL is that of NVIDIA. The second run has an OpenGL without shaders.
 */
TEST(probe_of_peer_reports_whether_frames_can_be_in_flight, 2)
{
    if (_i)
        watch_gl_without_shaders();
    const gr_transport_info *peer = must_probe(GR_TRANSPORT_PEER);
    if (!peer->usable)
        skip("%s", peer->reason);
    CUdevice computing;
    CU(CtxGetDevice(&computing));
    int drawing = -1;
    assert_ok(gr_gl_cuda_device(&drawing));
    const char *words = has_shader             ? "(`in_flight`) work: a compute shader copies."
                        : drawing != computing ? "(`in_flight`) work, but calls of OpenGL copy"
                                               : "(`in_flight`) use interop instead";
    ck_assert_msg(strstr(peer->reason, words), "%s", peer->reason);
    ck_assert_int_eq(programs, 0);
    ck_assert_uint_eq(glGetError(), GL_NO_ERROR);
}

/* The second run has an OpenGL without shaders. */
ONE_DEVICE_TEST(frames_in_flight_need_a_shader, 2)
{
    const gr_gl_options four = GR_INIT(gr_gl_options, .in_flight = 4);
    if (_i)
        watch_gl_without_shaders();
    if (!must_probe(GR_TRANSPORT_PEER)->usable)
        skip("OpenGL shares no memory with CUDA");
    GR_AUTO(gr_resource) *created = must_make(gr_create_gl_buffer(SIZE, GR_READ_ONLY, &four));
    GR_AUTO(gr_resource) *own =
        must_make(gr_from_gl_buffer_with(gl_buffer_filled(SIZE, 1), GR_READ_ONLY, &four));
    const gr_gl_image_desc desc = GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D,
                                          .internal_format = GL_RGBA8, .width = 4, .height = 4);
    GR_AUTO(gr_resource) *image = must_make(gr_create_gl_image(&desc, GR_READ_ONLY, &four));
    gr_resource *const all[] = {created, own, image};
    for (size_t i = 0; i < 3; i++)
        assert_described(all[i], has_shader ? "transport peer, 4 staging buffers"
                                            : "(peer was not chosen: `in_flight` needs");
}

/* Catches: an error of the application counted as one of the shader, which then was never used. */
ONE_DEVICE_TEST(an_error_of_the_application_does_not_end_frames_in_flight, 2)
{
    const gr_gl_options four = GR_INIT(gr_gl_options, .in_flight = 4);
    if (!has_shader || !must_probe(GR_TRANSPORT_PEER)->usable)
        skip("OpenGL has no shaders, or shares no memory with CUDA");
    GLuint name = gl_buffer_filled(SIZE, 1);
    glEnable(0xdead);
    GR_AUTO(gr_resource) *resource =
        must_make(_i ? gr_create_gl_buffer(SIZE, GR_WRITE_DISCARD, &four)
                     : gr_from_gl_buffer_with(name, GR_WRITE_DISCARD, &four));
    ck_assert_uint_eq(glGetError(), GL_INVALID_ENUM);
    assert_described(resource, "transport peer, 4 staging buffers");
}

TEST(frames_in_flight_of_created_images_need_a_format_of_peer, 2)
{
    const gr_gl_options four = GR_INIT(gr_gl_options, .in_flight = 4);
    const gr_gl_image_desc desc =
        GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D,
                .internal_format = _i ? GL_RGB16I : GL_DEPTH_COMPONENT32F, .width = 4, .height = 4);
    assert_null(gr_create_gl_image(&desc, GR_READ_ONLY, &four), GR_ERR_UNSUPPORTED, 0,
                "leave `in_flight` 0");
}

ONE_DEVICE_TEST(probe_reports_why_interop_fails)
{
    refuse_next(REGISTER, CUDA_ERROR_OPERATING_SYSTEM);
    const gr_transport_info *info = must_probe(GR_TRANSPORT_INTEROP);
    ck_assert(!info->usable);
    ck_assert_ptr_nonnull(strstr(info->reason, "CUDA_ERROR_OPERATING_SYSTEM"));
    ck_assert_ptr_nonnull(strstr(info->reason, "OpenGL draws on"));
    ck_assert_ptr_null(strstr(info->reason, "does not name"));
    refuse_next(REGISTER, CUDA_ERROR_UNKNOWN);
    refuse_next(DEVICES, CUDA_ERROR_UNKNOWN);
    info = must_probe(GR_TRANSPORT_INTEROP);
    ck_assert(!info->usable);
    ck_assert_ptr_nonnull(strstr(info->reason, "cuGLGetDevices does not name"));
}

/* Counts the existing OpenGL objects with names below 512. */
static unsigned count_objects(void)
{
    unsigned count = 0;
    for (GLuint name = 1; name < 512; name++)
        count += (unsigned)glIsBuffer(name) + glIsTexture(name) + glIsRenderbuffer(name) +
                 glIsFramebuffer(name) + glIsVertexArray(name) + glIsProgramPipeline(name);
    return count;
}

static void probe_all(void)
{
    must_probe(GR_TRANSPORT_INTEROP);
    must_probe(GR_TRANSPORT_SHARED);
    must_probe(GR_TRANSPORT_COPY);
    must_probe(GR_TRANSPORT_PEER);
}

TEST(probe_leaks_nothing)
{
    GLuint bound = gl_buffer_filled(16, 0);
    GLint binding = 0;
    probe_all(); /* the first probe marks the context, and opens descriptors that are kept */
    gr_clear_error();
    glBindBuffer(GL_COPY_WRITE_BUFFER, bound);
    unsigned objects = count_objects();
    ck_assert_uint_gt(objects, 0);
    int fds = open_fds();
    for (int i = 0; i < 3; i++) {
        if (i == 1)
            refuse_next(REGISTER, CUDA_ERROR_OPERATING_SYSTEM);
        glEnable(0xFFFF);
        probe_all();
        ck_assert_int_eq(gr_last_error()->status, GR_OK);
        ck_assert_uint_eq(glGetError(), GL_INVALID_ENUM);
        assert_gl_clean();
        glGetIntegerv(GL_COPY_WRITE_BUFFER_BINDING, &binding);
        ck_assert_uint_eq((GLuint)binding, bound);
        ck_assert_uint_eq(count_objects(), objects);
        ck_assert_ptr_eq(current_context(), fx.context);
        ck_assert_int_eq(open_fds(), fds);
    }
    assert_calls("cuGraphicsUnregisterResource", fault->calls(REGISTER) - 1);
}

TEST(probe_without_a_context_or_with_several_transports_is_refused)
{
    static const unsigned wrong[] = {0, GR_TRANSPORT_EXTERNAL, GR_TRANSPORT_ANY, 3, 32};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_null_invalid(gr_gl_probe((gr_transport)wrong[i]), "not an OpenGL");
    assert_ok(gr_egl_make_current(NULL));
    assert_null(gr_gl_probe(GR_TRANSPORT_INTEROP), GR_ERR_GL, 0, "No OpenGL context");
    assert_ok(gr_egl_make_current(fx.egl));
    CU(CtxSetCurrent(NULL));
    const gr_transport_info *info = must_probe(GR_TRANSPORT_INTEROP);
    ck_assert_ptr_null(current_context());
    CU(CtxSetCurrent(fx.context));
    ck_assert_msg(info->usable, "%s", info->reason);
}

/*
 * Runs on a thread with its own context. Returns whether that thread gets a separate result struct.
 */
static void *probe_elsewhere(void *info)
{
    const gr_transport_info *here = info;
    GR_AUTO(gr_egl) *egl = gr_egl_create(NULL);
    const gr_transport_info *there = gr_gl_probe(GR_TRANSPORT_COPY);
    return egl && there && there != here && there->usable ? info : NULL;
}

TEST(probe_results_are_per_thread)
{
    gr_transport_info *here = (gr_transport_info *)must_probe(GR_TRANSPORT_COPY);
    ck_assert_ptr_nonnull(elsewhere(probe_elsewhere, here));
    ck_assert_ptr_eq(must_probe(GR_TRANSPORT_COPY), here);
}

GROUP("device", add_copy_case)

ONE_DEVICE_TEST(gr_gl_cuda_device_returns_the_drawing_device)
{
    int device = -7;
    CU(CtxSetCurrent(NULL));
    assert_ok(gr_gl_cuda_device(&device));
    CUdevice counted;
    CU(DeviceGet(&counted, device));
    ck_assert_int_eq(counted, fx.device);
    ck_assert_ptr_null(current_context());
    CU(CtxSetCurrent(fx.context));
    assert_gl_clean();
}

TEST(gr_gl_cuda_device_fails_if_no_cuda_device_draws)
{
    int device = -7;
    refuse_next(DEVICES, CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
    assert_fails(gr_gl_cuda_device(&device), GR_ERR_CUDA, CUDA_ERROR_INVALID_GRAPHICS_CONTEXT,
                 "OpenGL draws on");
    assert_ok(gr_egl_make_current(NULL));
    assert_fails(gr_gl_cuda_device(&device), GR_ERR_GL, 0, "No OpenGL context");
    assert_ok(gr_egl_make_current(fx.egl));
    ck_assert_int_eq(device, -7);
}

GROUP("choice with Mesa", add_mesa_copy_case)

/*
 * If CUDA runs on a GPU, the CPU that draws is no CUDA device. With the software driver, the CPU is
 * CUDA device 0.
 */
COPY_TEST(opengl_on_the_cpu_has_no_cuda_device_on_a_gpu)
{
    int device = -7;
    if (gr_cuda_is_software()) {
        assert_ok(gr_gl_cuda_device(&device));
        ck_assert_int_eq(device, 0);
        return;
    }
    assert_fails(gr_gl_cuda_device(&device), GR_ERR_CUDA, -1, "OpenGL draws on the CPU");
    ck_assert_int_eq(device, -7);
}

/* ---- OpenGL of Mesa -------------------------------------------------------------------------- */

/* CUDA on a GPU cannot share memory with OpenGL on the CPU; the software driver can. */
COPY_TEST(transport_any_copies_between_cuda_on_a_gpu_and_opengl_on_the_cpu)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_any));
    const gr_transport_info *interop = must_probe(GR_TRANSPORT_INTEROP);
    ck_assert_int_eq(interop->usable, gr_cuda_is_software());
    ck_assert(must_probe(GR_TRANSPORT_COPY)->usable);
    if (gr_cuda_is_software()) {
        ck_assert_int_eq(gr_resource_get_info(resource)->transport,
                         devices_differ() ? GR_TRANSPORT_COPY : GR_TRANSPORT_INTEROP);
    } else {
        ck_assert_int_eq(gr_resource_get_info(resource)->transport, GR_TRANSPORT_COPY);
        assert_described(resource, "interop was not chosen");
        ck_assert_msg(strstr(interop->reason, "on the CPU"), "%s", interop->reason);
        printf("gl_copy: %s\n", interop->reason);
    }
    write_mapped(resource, 2);
    assert_gl_pattern(name, SIZE, 2);
}
