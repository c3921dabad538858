/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Frames in flight: refusals, the state of the application, failures and ends. */
#include "gl_in_flight.h"

#include <string.h>

#include <grinterop/framebuffer.h>

#define SIZE ((size_t)4096)

/* ---- Refusals -------------------------------------------------------------------------------- */

GROUP("refusals of frames in flight", add_flight_case)

static gr_resource *with_options(GLuint name, unsigned flags, gr_gl_options options)
{
    gr_clear_error();
    return gr_from_gl_buffer_with(name, flags, &options);
}
#define WITH(name, flags, ...) with_options(name, flags, GR_INIT(gr_gl_options, __VA_ARGS__))

FLIGHT_TEST(bad_options_are_refused)
{
    const GLuint name = gl_buffer_pattern(SIZE, 1);
    GLuint depth = 0;
    glCreateTextures(GL_TEXTURE_2D, 1, &depth);
    glTextureStorage2D(depth, 1, GL_DEPTH_COMPONENT24, 8, 8);
    fault->reset();
    assert_null_invalid(WITH(name, GR_WRITE_DISCARD, .in_flight = 1), "`in_flight` is 1");
    assert_null_invalid(WITH(name, GR_WRITE_DISCARD, .in_flight = 65), "2 to 64");
    assert_null_invalid(WITH(name, GR_READ_WRITE, .in_flight = 4), "read_write");
    assert_null_invalid(WITH(name, GR_READ_ONLY, .in_flight = 4, .share_group = true),
                        "`share_group`");
    assert_null_invalid(
        WITH(name, GR_READ_ONLY, .in_flight = 4, .transports = GR_TRANSPORT_INTEROP),
        "GR_TRANSPORT_PEER");
    assert_null_invalid(
        gr_create_gl_buffer(SIZE, GR_READ_ONLY,
                            &GR_INIT(gr_gl_options, .in_flight = 4, .packed = true)),
        "`packed`");
    assert_null_invalid(gr_create_gl_buffer(SIZE, GR_READ_WRITE, flight_options(4)), "read_write");
    assert_null(gr_from_gl_image_with(depth, GL_TEXTURE_2D, GR_READ_ONLY, flight_options(4)),
                GR_ERR_UNSUPPORTED, 0, "wrong values");
    glDeleteTextures(1, &depth);
    assert_calls("cuMemCreate", 0);
    assert_gl_pattern(name, SIZE, 1);
}

/* The memory that was made before the failure is freed. */
FLIGHT_TEST(too_little_memory_leaves_nothing, 3)
{
    const GLuint name = gl_buffer_pattern(3 << 20, 1); /* larger than what blocks take */
    let_fail("cuMemCreate", CUDA_ERROR_OUT_OF_MEMORY, _i);
    assert_null(gr_from_gl_buffer_with(name, GR_WRITE_DISCARD, flight_options(4)), GR_ERR_NO_MEMORY,
                CUDA_ERROR_OUT_OF_MEMORY, "");
    GR_AUTO(gr_resource) *resource = must_fly(name, GR_WRITE_DISCARD, 4);
    write_mapped(resource, 2);
    assert_gl_pattern(name, 3 << 20, 2);
}

/* Without the option of peer alone, what cannot gain is registered, and says why. */
GROUP("fallbacks of frames in flight", add_flight_case_without_shaders)

ONE_DEVICE_TEST(without_a_shader_interop_is_used)
{
    const GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_make(WITH(name, GR_WRITE_DISCARD, .in_flight = 4));
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, GR_TRANSPORT_INTEROP);
    assert_described(resource, "peer was not chosen: `in_flight` needs compute shaders");
    write_mapped(resource, 2);
    assert_gl_pattern(name, SIZE, 2);
}

/* ---- State ----------------------------------------------------------------------------------- */

GROUP("the state beside frames in flight", add_flight_case)

FLIGHT_TEST(copies_preserve_the_state)
{
    const GLuint name = gl_buffer_pattern(SIZE, 1);
    struct image image = image_filled("RGBA8", "2D", 8, 8, 1, 1);
    GR_AUTO(gr_resource) *writer = must_fly(name, GR_WRITE_DISCARD, 2);
    GR_AUTO(gr_resource) *reader = must_fly(name, GR_READ_ONLY, 2);
    GR_AUTO(gr_resource) *texture = must_fly_image(&image, GR_WRITE_DISCARD, 2);
    fill_units();
    disturb_everything();
    remember_everything();
    for (unsigned frame = 2; frame < 6; frame++) {
        write_mapped(writer, frame);
        assert_everything();
        assert_mapped(reader, frame);
        assert_everything();
        assert_ok(gr_buffer_release(must_map_image(texture)));
        assert_everything();
    }
}

/* Viewers request OpenGL 3.3, for which NVIDIA's EGL returns 3.3 with the newer extensions. */
FLIGHT_TEST(a_context_of_opengl_33_has_frames_in_flight)
{
    gr_egl *viewer = must_make(gr_egl_create(&GR_INIT(gr_egl_options, .major = 3, .minor = 3)));
    const gr_gl_options options = GR_INIT(gr_gl_options, .in_flight = 4);
    const GLuint name = gl_buffer_pattern(SIZE, 1);
    gr_resource *writer = must_make(gr_from_gl_buffer_with(name, GR_WRITE_DISCARD, &options));
    ck_assert_int_eq(gr_resource_get_info(writer)->transport,
                     has_shader ? GR_TRANSPORT_PEER : GR_TRANSPORT_INTEROP);
    for (unsigned frame = 2; frame < 9; frame++) {
        write_mapped(writer, frame);
        assert_gl_pattern(name, SIZE, frame);
    }
    gr_resource_free(writer);
    gr_egl_free(viewer);
    assert_ok(gr_egl_make_current(fx.egl));
}

/* The application has bound the object itself to the units of the shader. */
FLIGHT_TEST(the_object_may_be_bound_to_the_units_of_the_shader)
{
    const GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *writer = must_fly(name, GR_WRITE_DISCARD, 2);
    for (GLuint unit = 6; unit < 8; unit++)
        glBindBufferBase(GL_SHADER_STORAGE_BUFFER, unit, name);
    const unsigned before = dispatches;
    write_mapped(writer, 2);
    ck_assert_uint_eq(dispatches - before, has_shader);
    for (GLuint unit = 6; unit < 8; unit++) {
        GLint bound = 0;
        glGetIntegeri_v(GL_SHADER_STORAGE_BUFFER_BINDING, unit, &bound);
        ck_assert_int_eq(bound, (GLint)name);
        glBindBufferBase(GL_SHADER_STORAGE_BUFFER, unit, 0);
    }
    assert_gl_pattern(name, SIZE, 2);
}

/*
 * OpenGL would discard a dispatch, or count it as work of the application; or the current program
 * could not be current again, or would lose the selected subroutine.
 */
enum { CONDITIONAL, FEEDBACK, DELETED, LINKED_IN_VAIN, SUBROUTINES, STATES };
FLIGHT_TEST(states_without_dispatches_do_not_lose_frames, STATES)
{
    const GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *writer = must_fly(name, GR_WRITE_DISCARD, 2);
    GR_AUTO(gr_resource) *reader = must_fly(name, GR_READ_ONLY, 2);
    const unsigned before = dispatches;
    const GLuint begun = _i == CONDITIONAL   ? begin_condition()
                         : _i == SUBROUTINES ? make_subroutines()
                                             : begin_feedback();
    GLuint chosen = 0;
    if (_i == DELETED || _i == LINKED_IN_VAIN)
        glEndTransformFeedback();
    if (_i == DELETED)
        glDeleteProgram(begun);
    if (_i == LINKED_IN_VAIN)
        link_in_vain(begun);
    if (_i == SUBROUTINES) {
        glUseProgram(begun);
        glUniformSubroutinesuiv(GL_VERTEX_SHADER, 1, &(GLuint){1});
    }
    for (unsigned frame = 2; frame < 5; frame++) {
        write_mapped(writer, frame);
        assert_mapped(reader, frame);
    }
    ck_assert_uint_eq(dispatches, before);
    if (_i == CONDITIONAL) {
        glEndConditionalRender();
        glDeleteQueries(1, &begun);
    } else {
        GLint current = 0;
        glGetIntegerv(GL_CURRENT_PROGRAM, &current);
        ck_assert_int_eq(current, (GLint)begun);
        if (_i == FEEDBACK)
            glEndTransformFeedback();
        if (_i == SUBROUTINES)
            glGetUniformSubroutineuiv(GL_VERTEX_SHADER, 0, &chosen);
        ck_assert_uint_eq(chosen, _i == SUBROUTINES);
        glUseProgram(0);
        if (_i != DELETED)
            glDeleteProgram(begun);
    }
    assert_gl_pattern(name, SIZE, 4);
}

/* ---- Replaced storage ------------------------------------------------------------------------ */

GROUP("replaced storage with frames in flight", EVERY_FLIGHT)

FLIGHT_TEST(maps_follow_a_resized_texture)
{
    gr_gl_options options = *flight_options(3);
    options.follow_storage = true;
    GLuint name = bound_texture(GL_TEXTURE_2D);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_image_with(name, GL_TEXTURE_2D, GR_WRITE_DISCARD, &options));
    for (int side = 4; side < 40; side += 7) {
        static unsigned char texels[4 * 40 * 40];
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, side, side, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        for (int frame = 0; frame < 4; frame++) {
            gr_buffer *buffer = must_map_image(resource);
            ck_assert_uint_eq(gr_buffer_get_image_info(buffer)->width, (size_t)side);
            memset(texels, side + frame, sizeof(texels));
            image_put(buffer, 0, 0, texels);
            assert_ok(gr_buffer_release(buffer));
            memset(texels, 0, sizeof(texels));
            glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
            assert_bytes(texels, 4 * (size_t)side * (size_t)side, side + frame);
        }
    }
    glBindTexture(GL_TEXTURE_2D, 0);
    glDeleteTextures(1, &name);
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "deleted");
}

/* A map follows with follow_storage, and else is refused if the size differs. */
FLIGHT_TEST(replaced_buffers_are_followed_or_refused, 2)
{
    static const size_t sizes[] = {SIZE, 2 * SIZE, 100, 3 << 20, SIZE};
    gr_gl_options options = *flight_options(3);
    options.follow_storage = _i;
    const GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *writer =
        must_make(gr_from_gl_buffer_with(name, GR_WRITE_DISCARD, &options));
    GR_AUTO(gr_resource) *reader = must_make(gr_from_gl_buffer_with(name, GR_READ_ONLY, &options));
    glBindBuffer(GL_COPY_WRITE_BUFFER, name);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        glBufferData(GL_COPY_WRITE_BUFFER, (GLsizeiptr)sizes[i], NULL, GL_DYNAMIC_DRAW);
        if (!_i && sizes[i] != SIZE) {
            assert_null(gr_map(writer, fx.stream), GR_ERR_STATE, 0, "has since been replaced");
            assert_null(gr_map(reader, fx.stream), GR_ERR_STATE, 0, "has since been replaced");
            continue;
        }
        for (unsigned frame = 2; frame < 7; frame++) {
            write_mapped(writer, frame);
            assert_gl_pattern(name, sizes[i], frame);
            gl_write_pattern(name, sizes[i], frame + 10);
            assert_mapped(reader, frame + 10);
        }
        assert_described(writer, "3 staging buffers",
                         has_shader ? "which a shader copies" : "which calls of OpenGL copy");
    }
}

FLIGHT_TEST(a_mapped_object_that_was_deleted_can_be_released, 2)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_fly(name, GR_WRITE_DISCARD, 2);
    gr_buffer *buffer = must_map(resource);
    cuda_write_pattern(buffer, 2);
    gl_buffer_delete(name, _i, SIZE, 3);
    assert_fails(gr_buffer_release(buffer), GR_ERR_PARTIAL, 0, "deleted");
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "deleted");
    if (_i)
        assert_gl_bytes(name, SIZE, 3);
}

FLIGHT_TEST(an_object_that_the_application_has_mapped_is_refused)
{
    const GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *writer = must_fly(name, GR_WRITE_DISCARD, 2);
    GR_AUTO(gr_resource) *reader = must_fly(name, GR_READ_ONLY, 2);
    gr_buffer *buffer = must_map(writer);
    cuda_write_pattern(buffer, 2);
    ck_assert_ptr_nonnull(glMapNamedBufferRange(name, 0, 16, GL_MAP_READ_BIT));
    assert_fails(gr_buffer_release(buffer), GR_ERR_STATE, 0, "glMapBuffer");
    assert_null(gr_map(reader, fx.stream), GR_ERR_STATE, 0, "glMapBuffer");
    glUnmapNamedBuffer(name);
    assert_ok(gr_buffer_release(buffer));
    assert_gl_pattern(name, SIZE, 2);
}

/* ---- Failures and ends ----------------------------------------------------------------------- */

GROUP("ends of frames in flight", EVERY_FLIGHT)

FLIGHT_TEST(a_resource_may_end_while_frames_are_in_flight, 3)
{
    const GLuint name = gl_buffer_pattern(SIZE, 1);
    gr_resource *resource = must_fly(name, GR_WRITE_DISCARD, 4);
    for (unsigned frame = 2; frame < 5; frame++)
        write_mapped(resource, frame);
    gr_buffer *buffer = must_map(resource);
    cuda_write_pattern(buffer, 9);
    if (_i == 0)
        assert_ok(gr_resource_close(resource, fx.stream)); /* which releases the buffer */
    if (_i < 2)
        gr_resource_free(resource);
    if (_i > 0)
        assert_ok(gr_buffer_release(buffer));
    if (_i == 2)
        gr_resource_free(resource);
    assert_gl_pattern(name, SIZE, 9);
}

FLIGHT_TEST(a_lost_release_is_made_in_the_context)
{
    const GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_fly(name, GR_WRITE_DISCARD, 2);
    gr_buffer *buffer = must_map(resource);
    cuda_write_pattern(buffer, 2);
    CU(StreamSynchronize(fx.stream));
    elsewhere(release_elsewhere, buffer);
    assert_ok(gr_buffer_release(must_map(resource)));
}

FLIGHT_TEST(a_resource_outlives_its_opengl_context)
{
    gr_egl *other = must_make(gr_egl_create(NULL));
    GR_AUTO(gr_resource) *resource = must_fly(gl_buffer_pattern(SIZE, 1), GR_WRITE_DISCARD, 4);
    write_mapped(resource, 2);
    gr_egl_free(other);
    assert_ok(gr_egl_make_current(fx.egl));
    assert_null(gr_map(resource, fx.stream), GR_ERR_GL, 0, "context");
}

/* The caller gives up after the first error. The case checks that no memory is left. */
FLIGHT_TEST(failed_events_leave_nothing_behind, 8)
{
    const GLuint name = gl_buffer_pattern(SIZE, 1);
    gr_resource *resource = must_fly(name, GR_WRITE_DISCARD, 2);
    bool good = true;
    let_fail("cuEventRecord", CUDA_ERROR_OUT_OF_MEMORY, _i);
    for (int frame = 0; frame < 2 && good; frame++) {
        gr_buffer *buffer = gr_map(resource, fx.stream);
        good = buffer && gr_buffer_release(buffer) == GR_OK;
        if (buffer && !good)
            gr_buffer_release_later(buffer);
        good = good && gr_resource_wait(resource, 1000) == GR_OK;
    }
    gr_resource_free(resource);
    fault->reset();
}

/* OpenGL refuses the copies of one frame, which is lost; the mapping ends. */
FLIGHT_TEST(a_refused_copy_loses_one_frame)
{
    const GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *writer = must_fly(name, GR_WRITE_DISCARD, 2);
    for (unsigned frame = 2; frame < 8; frame++) {
        gr_buffer *buffer = must_map(writer);
        cuda_write_pattern(buffer, frame);
        opengl_refuses_data(frame == 4);
        if (frame == 4)
            assert_fails(gr_buffer_release(buffer), GR_ERR_PARTIAL, GL_INVALID_ENUM, "take back");
        else
            assert_ok(gr_buffer_release(buffer));
        opengl_refuses_data(false);
        assert_gl_pattern(name, SIZE, frame == 4 ? 3 : frame);
    }
}

/* ---- Framebuffers ---------------------------------------------------------------------------- */

GROUP("framebuffers with frames in flight", EVERY_FLIGHT)

FLIGHT_TEST(fetches_use_the_staging_buffers_in_turn, 3)
{
    enum { SIDE = 16 };
    const int64_t shape[] = {SIDE, SIDE, 4};
    GLuint framebuffer = 0, texture = 0;
    GR_AUTO(gr_resource) *staging =
        _i ? must_make(gr_create_gl_buffer(4 * SIDE * SIDE, GR_READ_ONLY, flight_options(2u * _i)))
           : NULL;
    GR_AUTO(gr_tensor) *tensor = must_alloc(GR_DTYPE_U8, GR_MEMORY_DEVICE, 3, shape);
    glCreateTextures(GL_TEXTURE_2D, 1, &texture);
    glTextureStorage2D(texture, 1, GL_RGBA8, SIDE, SIDE);
    glCreateFramebuffers(1, &framebuffer);
    glNamedFramebufferTexture(framebuffer, GL_COLOR_ATTACHMENT0, texture, 0);
    for (unsigned frame = 0; frame < 9; frame++) {
        static unsigned char got[4 * SIDE * SIDE];
        const float value[4] = {(float)(20 * frame) / 255, 0, 1, (float)frame / 255};
        glClearNamedFramebufferfv(framebuffer, GL_COLOR, 0, value);
        assert_ok(gr_fetch_framebuffer(
            framebuffer, tensor, &GR_INIT(gr_framebuffer_options, .staging = staging), fx.stream));
        glClearNamedFramebufferfv(framebuffer, GL_COLOR, 0, (const float[4]){1, 1, 1, 1});
        tensor_to_host(tensor, got, sizeof(got));
        const unsigned char pixel[4] = {(unsigned char)(20 * frame), 0, 255, (unsigned char)frame};
        for (unsigned i = 0; i < SIDE * SIDE; i++)
            ck_assert_mem_eq(got + 4 * i, pixel, 4);
    }
    glDeleteFramebuffers(1, &framebuffer);
    glDeleteTextures(1, &texture);
}

/* A map of the staging buffer itself reads what OpenGL wrote to the object. */
FLIGHT_TEST(a_failed_fetch_leaves_the_staging_buffer_usable)
{
    const int64_t shape[] = {8, 8, 4};
    GR_AUTO(gr_resource) *staging =
        must_make(gr_create_gl_buffer(SIZE, GR_READ_ONLY, flight_options(2)));
    GR_AUTO(gr_tensor) *tensor = must_alloc(GR_DTYPE_U8, GR_MEMORY_DEVICE, 3, shape);
    gl_write_pattern(gr_gl_name(staging), SIZE, 5);
    for (unsigned i = 0; i < 3; i++) {
        assert_fails(gr_fetch_framebuffer(999, tensor,
                                          &GR_INIT(gr_framebuffer_options, .staging = staging),
                                          fx.stream),
                     GR_ERR_INVALID_VALUE, 0, "no OpenGL framebuffer 999");
        assert_mapped(staging, 5);
    }
}
