/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of a transport: forced ones, the fallback with its reason, and what the probe says and
 * leaves.
 */
#include "gl_copy_tests.h"

#include <stdio.h>
#include <string.h>

#define SIZE 4096

#define REGISTER       "cuGraphicsGLRegisterBuffer"
#define REGISTER_IMAGE "cuGraphicsGLRegisterImage"
#define DEVICES        "cuGLGetDevices"

static const gr_gl_options by_auto = {.transport = GR_TRANSPORT_ANY},
                           by_interop = {.transport = GR_TRANSPORT_INTEROP},
                           by_shared = {.transport = GR_TRANSPORT_SHARED},
                           by_copy = {.transport = GR_TRANSPORT_COPY};

static void let_fail(const char *function, CUresult code)
{
    ck_assert_msg(fault->set(function, (int)code, 0), "%s can't fail", function);
}

static void assert_described(const gr_resource *resource, const char *part)
{
    char text[1024];
    gr_resource_describe(resource, text, sizeof(text));
    ck_assert_msg(strstr(text, part), "\"%s\" is not in: %s", part, text);
}

/* ---- Forced ones ----------------------------------------------------------------------------- */

START_TEST(a_forced_transport_is_taken)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *interop = gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_interop);
    assert_made(interop);
    ck_assert_int_eq(gr_gl_transport(interop), GR_TRANSPORT_INTEROP);
    assert_calls(REGISTER, 1);
    GR_AUTO(gr_resource) *copy = gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_copy);
    assert_made(copy);
    ck_assert_int_eq(gr_gl_transport(copy), GR_TRANSPORT_COPY);
    assert_calls(REGISTER, 1);
    assert_described(interop, "transport interop");
    assert_described(copy, "transport copy");
    ck_assert_uint_eq(gr_gl_name(copy), name);
    ck_assert_uint_eq(gr_gl_target(copy), GL_ARRAY_BUFFER);
    ck_assert_ptr_nonnull(gr_handle(copy));
    assert_ok(gr_resource_close(copy, GR_STREAM_OF_MAP));
    ck_assert_ptr_null(gr_handle(copy));
    ck_assert(gr_resource_is_closed(copy));
}
END_TEST

START_TEST(a_forced_transport_does_not_fall_back)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    let_fail(REGISTER, CUDA_ERROR_OPERATING_SYSTEM);
    assert_null(gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_interop), GR_ERR_CUDA,
                CUDA_ERROR_OPERATING_SYSTEM, "OpenGL draws on");
    let_fail(REGISTER_IMAGE, CUDA_ERROR_OPERATING_SYSTEM);
    assert_null(gr_from_gl_image_with(image.name, GL_TEXTURE_2D, GR_READ_WRITE, &by_interop),
                GR_ERR_CUDA, CUDA_ERROR_OPERATING_SYSTEM, "OpenGL draws on");
    assert_null(gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_shared), GR_ERR_UNSUPPORTED, 0,
                "gr_gl_buffer_create");
    assert_null(gr_from_gl_image_with(image.name, GL_TEXTURE_2D, GR_READ_WRITE, &by_shared),
                GR_ERR_UNSUPPORTED, 0, "gr_gl_image_create");
    const gr_gl_options wrong = {.transport = (gr_transport)4};
    assert_null(gr_from_gl_buffer_with(name, GR_READ_WRITE, &wrong), GR_ERR_INVALID_VALUE, 0,
                "gr_transport");
}
END_TEST

/* By the same checks as for interop. */
START_TEST(a_copy_refuses_what_interop_refuses)
{
    GLuint deleted = gl_buffer_filled(SIZE, 1), empty = gl_buffer(NULL, 0);
    GLuint name = gl_buffer_filled(SIZE, 1);
    glDeleteBuffers(1, &deleted);
    assert_null(gr_from_gl_buffer_with(0, GR_READ_WRITE, &by_copy), GR_ERR_INVALID_VALUE, 0,
                "is 0");
    assert_null(gr_from_gl_buffer_with(deleted, GR_READ_WRITE, &by_copy), GR_ERR_INVALID_VALUE, 0,
                "no OpenGL buffer");
    assert_null(gr_from_gl_buffer_with(empty, GR_READ_WRITE, &by_copy), GR_ERR_INVALID_VALUE, 0,
                "no storage");
    assert_null(gr_from_gl_buffer_with(name, 0x100, &by_copy), GR_ERR_INVALID_VALUE, 0, "");
    assert_null(gr_from_gl_image_with(0, GL_TEXTURE_2D, GR_READ_WRITE, &by_copy),
                GR_ERR_INVALID_VALUE, 0, "is 0");
    assert_ok(gr_egl_make_current(NULL));
    assert_null(gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_copy), GR_ERR_GL, 0,
                "No OpenGL context");
    assert_ok(gr_egl_make_current(fx.egl));
}
END_TEST

/* ---- AUTO ------------------------------------------------------------------------------------ */

START_TEST(auto_takes_interop)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    GR_AUTO(gr_resource) *buffer = gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_auto);
    GR_AUTO(gr_resource) *without = gr_from_gl_buffer_with(name, GR_READ_WRITE, NULL);
    GR_AUTO(gr_resource) *texture =
        gr_from_gl_image_with(image.name, GL_TEXTURE_2D, GR_READ_WRITE, NULL);
    assert_made(buffer);
    assert_made(without);
    assert_made(texture);
    ck_assert_int_eq(gr_gl_transport(buffer), GR_TRANSPORT_INTEROP);
    ck_assert_int_eq(gr_gl_transport(without), GR_TRANSPORT_INTEROP);
    ck_assert_int_eq(gr_gl_transport(texture), GR_TRANSPORT_INTEROP);
}
END_TEST

static char logged[4096];

static void keep_line(void *user, gr_log_level level, const char *line)
{
    (void)user;
    ck_assert_int_ge(level, GR_LOG_ERROR);
    strncat(logged, level == GR_LOG_ERROR ? "an error: " : "", sizeof(logged) - strlen(logged) - 1);
    strncat(logged, line, sizeof(logged) - strlen(logged) - 1);
    strncat(logged, "\n", sizeof(logged) - strlen(logged) - 1);
}

static void assert_fell_back(const gr_resource *resource, const char *code)
{
    gr_log_set(GR_LOG_NONE, NULL, NULL);
    assert_made(resource);
    ck_assert_int_eq(gr_last_error(NULL), GR_OK);
    ck_assert_int_eq(gr_gl_transport(resource), GR_TRANSPORT_COPY);
    assert_described(resource, "transport copy (interop was not taken: ");
    assert_described(resource, code);
    assert_described(resource, "OpenGL draws on ");
    assert_described(resource, "CUDA computes on ");
    ck_assert_msg(strstr(logged, "interop was not taken") && strstr(logged, code), "logged: %s",
                  logged);
    ck_assert_msg(!strstr(logged, "an error: "), "logged: %s", logged);
}

/* A refusal that comes from the device, whatever the driver says of devices. */
START_TEST(auto_falls_back_where_another_device_draws)
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
        gr_log_set(GR_LOG_INFO, keep_line, NULL);
        let_fail(REGISTER, codes[i].code);
        GR_AUTO(gr_resource) *resource = gr_from_gl_buffer_with(name, GR_READ_WRITE, NULL);
        assert_fell_back(resource, codes[i].name);
        gr_log_set(GR_LOG_INFO, keep_line, NULL);
        let_fail(REGISTER_IMAGE, codes[i].code);
        GR_AUTO(gr_resource) *texture =
            gr_from_gl_image_with(image.name, GL_TEXTURE_2D, GR_READ_WRITE, NULL);
        assert_fell_back(texture, codes[i].name);

        gr_buffer *buffer = must_map(resource);
        assert_cuda_pattern(buffer, 1);
        cuda_write_pattern(buffer, 2);
        assert_ok(gr_buffer_release(buffer));
        assert_gl_pattern(name, SIZE, 2);
        assert_ok(gr_buffer_release(must_map_image(texture)));
        assert_image(&image, 1);
    }
}
END_TEST

/* The same code means the arguments where this device draws, and the device where it does not. */
START_TEST(auto_asks_whose_fault_it_was)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    let_fail(REGISTER, CUDA_ERROR_INVALID_VALUE);
    assert_null(gr_from_gl_buffer_with(name, GR_READ_WRITE, NULL), GR_ERR_CUDA,
                CUDA_ERROR_INVALID_VALUE, "refused");
    let_fail(REGISTER, CUDA_ERROR_OUT_OF_MEMORY);
    assert_null(gr_from_gl_buffer_with(name, GR_READ_WRITE, NULL), GR_ERR_CUDA,
                CUDA_ERROR_OUT_OF_MEMORY, "refused");
    logged[0] = '\0';
    gr_log_set(GR_LOG_INFO, keep_line, NULL);
    let_fail(REGISTER, CUDA_ERROR_INVALID_VALUE);
    let_fail(DEVICES, CUDA_ERROR_OPERATING_SYSTEM);
    GR_AUTO(gr_resource) *resource = gr_from_gl_buffer_with(name, GR_READ_WRITE, NULL);
    assert_fell_back(resource, "CUDA_ERROR_INVALID_VALUE");
}
END_TEST

START_TEST(auto_without_a_cuda_context)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    logged[0] = '\0';
    gr_log_set(GR_LOG_INFO, keep_line, NULL);
    CU(CtxSetCurrent(NULL));
    let_fail(DEVICES, CUDA_ERROR_OPERATING_SYSTEM);
    GR_AUTO(gr_resource) *resource = gr_from_gl_buffer_with(name, GR_READ_WRITE, NULL);
    assert_fell_back(resource, "cuGLGetDevices names no device");
    gr_buffer *buffer = gr_map(resource, CU_STREAM_PER_THREAD);
    assert_made(buffer);
    CUcontext current = fx.context;
    CU(CtxGetCurrent(&current));
    ck_assert_ptr_null(current);
    assert_ok(gr_buffer_release(buffer));
    CU(CtxSetCurrent(fx.context));
}
END_TEST

START_TEST(auto_does_not_fall_back_on_wrong_arguments)
{
    struct image depth = image_make("DEPTH_COMPONENT24", "2D", 8, 8, 1);
    assert_null(gr_from_gl_buffer_with(0, GR_READ_WRITE, NULL), GR_ERR_INVALID_VALUE, 0, "is 0");
    assert_null(gr_from_gl_image_with(depth.name, GL_TEXTURE_2D, GR_READ_WRITE, NULL),
                GR_ERR_UNSUPPORTED, 0, "depth");
    assert_calls(REGISTER, 0);
    assert_calls(REGISTER_IMAGE, 0);
}
END_TEST

/* ---- The probe ------------------------------------------------------------------------------- */

START_TEST(probe_says_what_works_and_why)
{
    gr_transport_info reports[3];
    memset(reports, 0xEE, sizeof(reports));
    assert_ok(gr_gl_probe(reports));
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(reports[i].transport, GR_TRANSPORT_INTEROP + i);
        ck_assert_ptr_nonnull(memchr(reports[i].reason, '\0', sizeof(reports[i].reason)));
        ck_assert_uint_gt(strlen(reports[i].reason), 20);
    }
    ck_assert_msg(reports[0].usable, "%s", reports[0].reason);
    ck_assert_ptr_nonnull(strstr(reports[0].reason, (const char *)glGetString(GL_RENDERER)));
    ck_assert_ptr_nonnull(strstr(reports[0].reason, "UUID GPU-"));
    ck_assert(reports[2].usable);
    ck_assert_ptr_nonnull(strstr(reports[2].reason, "pinned"));
}
END_TEST

START_TEST(probe_says_why_interop_does_not_work)
{
    gr_transport_info reports[3];
    let_fail(REGISTER, CUDA_ERROR_OPERATING_SYSTEM);
    assert_ok(gr_gl_probe(reports));
    ck_assert(!reports[0].usable);
    ck_assert_ptr_nonnull(strstr(reports[0].reason, "CUDA_ERROR_OPERATING_SYSTEM"));
    ck_assert_ptr_nonnull(strstr(reports[0].reason, "OpenGL draws on"));
    ck_assert_ptr_null(strstr(reports[0].reason, "does not name"));
    let_fail(REGISTER, CUDA_ERROR_UNKNOWN);
    let_fail(DEVICES, CUDA_ERROR_UNKNOWN);
    assert_ok(gr_gl_probe(reports));
    ck_assert(!reports[0].usable);
    ck_assert_ptr_nonnull(strstr(reports[0].reason, "cuGLGetDevices does not name"));
}
END_TEST

/* How many objects there are under the first names. */
static unsigned count_objects(void)
{
    unsigned count = 0;
    for (GLuint name = 1; name < 512; name++)
        count += (unsigned)glIsBuffer(name) + glIsTexture(name) + glIsRenderbuffer(name) +
                 glIsFramebuffer(name) + glIsVertexArray(name) + glIsProgramPipeline(name);
    return count;
}

START_TEST(probe_leaves_nothing_behind)
{
    gr_transport_info reports[3];
    GLuint bound = gl_buffer_filled(16, 0);
    GLint binding = 0;
    assert_ok(gr_gl_probe(reports)); /* marks the context, and opens what is opened once */
    gr_clear_error();
    glBindBuffer(GL_COPY_WRITE_BUFFER, bound);
    unsigned objects = count_objects();
    ck_assert_uint_gt(objects, 0);
    int fds = open_fds();
    for (int i = 0; i < 3; i++) {
        if (i == 1)
            let_fail(REGISTER, CUDA_ERROR_OPERATING_SYSTEM);
        glEnable(0xFFFF);
        assert_ok(gr_gl_probe(reports));
        ck_assert_int_eq(gr_last_error(NULL), GR_OK);
        ck_assert_uint_eq(glGetError(), GL_INVALID_ENUM);
        assert_gl_clean();
        glGetIntegerv(GL_COPY_WRITE_BUFFER_BINDING, &binding);
        ck_assert_uint_eq((GLuint)binding, bound);
        ck_assert_uint_eq(count_objects(), objects);
        CUcontext current = NULL;
        CU(CtxGetCurrent(&current));
        ck_assert_ptr_eq(current, fx.context);
        ck_assert_int_eq(open_fds(), fds);
    }
    assert_calls("cuGraphicsUnregisterResource", fault->calls(REGISTER) - 1);
}
END_TEST

START_TEST(probe_needs_a_context_and_a_place)
{
    gr_transport_info reports[3];
    assert_fails(gr_gl_probe(NULL), GR_ERR_INVALID_VALUE, 0, "NULL");
    assert_ok(gr_egl_make_current(NULL));
    assert_fails(gr_gl_probe(reports), GR_ERR_GL, 0, "No OpenGL context");
    assert_ok(gr_egl_make_current(fx.egl));
    CU(CtxSetCurrent(NULL));
    assert_ok(gr_gl_probe(reports));
    CUcontext current = fx.context;
    CU(CtxGetCurrent(&current));
    ck_assert_ptr_null(current);
    CU(CtxSetCurrent(fx.context));
    ck_assert_msg(reports[0].usable, "%s", reports[0].reason);
}
END_TEST

/* ---- Mesa's OpenGL --------------------------------------------------------------------------- */

/* CUDA of a GPU cannot follow there; the software driver can. */
START_COPY_TEST(auto_with_an_opengl_on_the_processor)
{
    gr_transport_info reports[3];
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource = gr_from_gl_buffer_with(name, GR_READ_WRITE, NULL);
    assert_made(resource);
    assert_ok(gr_gl_probe(reports));
    ck_assert_int_eq(reports[0].usable, gr_cuda_is_software());
    ck_assert(reports[2].usable);
    if (gr_cuda_is_software()) {
        ck_assert_int_eq(gr_gl_transport(resource), GR_TRANSPORT_INTEROP);
    } else {
        ck_assert_int_eq(gr_gl_transport(resource), GR_TRANSPORT_COPY);
        assert_described(resource, "interop was not taken");
        ck_assert_msg(strstr(reports[0].reason, "on the CPU"), "%s", reports[0].reason);
        printf("gl_copy: %s\n", reports[0].reason);
    }
    write_mapped(resource, 2);
    assert_gl_pattern(name, SIZE, 2);
}
END_TEST

void add_transport_cases(Suite *suite)
{
    add_tests(add_copy_case(suite, "forced transports", GL_OF_THE_FIXTURE),
              a_forced_transport_is_taken, a_forced_transport_does_not_fall_back,
              a_copy_refuses_what_interop_refuses);

    TCase *choice = add_copy_case(suite, "choice of a transport", GL_OF_THE_FIXTURE);
    add_tests(choice, auto_takes_interop, auto_falls_back_where_another_device_draws,
              auto_asks_whose_fault_it_was, auto_without_a_cuda_context,
              auto_does_not_fall_back_on_wrong_arguments);

    add_tests(add_copy_case(suite, "probe", GL_OF_THE_FIXTURE), probe_says_what_works_and_why,
              probe_says_why_interop_does_not_work, probe_leaves_nothing_behind,
              probe_needs_a_context_and_a_place);

    add_tests(add_copy_case(suite, "choice with Mesa", GL_OF_MESA),
              auto_with_an_opengl_on_the_processor);
}
