/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Fetches that a shader makes: each kind of attachment, the state of the application, and the life
 * of the shader.
 */
#include "framebuffer_support.h"

#include <stdlib.h>
#include <string.h>

#include <epoxy/egl.h>

#include "tests/support/support_state.h"

/* ---- Attachments ----------------------------------------------------------------------------- */

static const struct place {
    GLenum target;
    GLint level, layer; /* a layer of -1 attaches the whole level */
    GLenum face;
} places[] = {
    {GL_TEXTURE_2D, 0, -1, 0},        {GL_TEXTURE_2D, 2, -1, 0},
    {GL_TEXTURE_RECTANGLE, 0, -1, 0}, {GL_TEXTURE_2D_ARRAY, 1, 2, 0},
    {GL_TEXTURE_2D_ARRAY, 0, 0, 0},   {GL_TEXTURE_2D_ARRAY, 0, -1, 0},
    {GL_TEXTURE_3D, 0, 3, 0},         {GL_TEXTURE_CUBE_MAP, 1, 0, GL_TEXTURE_CUBE_MAP_NEGATIVE_Y},
    {GL_TEXTURE_CUBE_MAP, 1, -1, 0},  {GL_TEXTURE_CUBE_MAP_ARRAY, 0, 7, 0},
};
enum { PLACES = sizeof(places) / sizeof(*places) };

static GLuint make_texture(GLenum internal, const struct place *p)
{
    /* cube faces are square; the attached level contains the rectangle */
    const GLsizei side = WIDTH << p->level;
    GLuint name;
    glCreateTextures(p->target, 1, &name);
    if (p->target == GL_TEXTURE_RECTANGLE)
        glTextureStorage2D(name, 1, internal, side, side);
    else if (p->target == GL_TEXTURE_2D || p->target == GL_TEXTURE_CUBE_MAP)
        glTextureStorage2D(name, 3, internal, side, side);
    else
        glTextureStorage3D(name, 2, internal, side, side, 12);
    return name;
}

/* Parameters that change what shaders read from the texture, but not what is drawn to it. */
static void disturb(GLuint name, const struct place *p)
{
    static const GLint swizzle[] = {GL_ZERO, GL_ALPHA, GL_RED, GL_ONE};
    glTextureParameteriv(name, GL_TEXTURE_SWIZZLE_RGBA, swizzle);
    glTextureParameteri(name, GL_DEPTH_STENCIL_TEXTURE_MODE, GL_STENCIL_INDEX);
    if (p->target == GL_TEXTURE_RECTANGLE)
        return;
    glTextureParameteri(name, GL_TEXTURE_BASE_LEVEL, 1);
    glTextureParameteri(name, GL_TEXTURE_MAX_LEVEL, 1);
}

static void attach(GLenum point, GLuint name, const struct place *p)
{
    if (p->face)
        glFramebufferTexture2D(GL_FRAMEBUFFER, point, p->face, name, p->level);
    else if (p->layer < 0)
        glFramebufferTexture(GL_FRAMEBUFFER, point, name, p->level);
    else
        glFramebufferTextureLayer(GL_FRAMEBUFFER, point, name, p->level, p->layer);
}

static bool is_reported(GLenum point, const struct place *p)
{
    GLint layer = 0;
    glGetFramebufferAttachmentParameteriv(GL_FRAMEBUFFER, point,
                                          GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_LAYER, &layer);
    return layer == (p->layer > 0 ? p->layer : 0);
}

/* Returns whether OpenGL reports the layer: Mesa reports 0 for the layers of some targets. */
static bool check_texture(const struct attachment_format *f, const struct place *p, bool disturbs)
{
    const gr_framebuffer_options options = GR_INIT(
        gr_framebuffer_options, .attachment = f->attachment, .width = WIDTH, .height = HEIGHT);
    const size_t size = (size_t)WIDTH * HEIGHT * f->channels * gr_dtype_get_info(f->dtype)->size;
    const GLuint name = make_texture(f->internal, p);
    GLuint framebuffer = bound_framebuffer(GL_FRAMEBUFFER);
    attach(f->internal == GL_DEPTH24_STENCIL8 ? GL_DEPTH_STENCIL_ATTACHMENT : f->attachment, name,
           p);
    assert_gl_clean();
    draw_pattern(f);
    if (disturbs)
        disturb(name, p);
    const bool reported = is_reported(f->attachment, p);
    read_reference(f, expected);
    must_fetch(framebuffer, new_tensor(f->dtype, HEIGHT, WIDTH, f->channels), &options);
    assert_pixels(f, size);
    glDeleteFramebuffers(1, &framebuffer);
    glDeleteTextures(1, &name);
    return reported;
}

/* Whether the shader reads the texture itself, without a blit. */
static bool is_read_directly(const struct attachment_format *f, const struct place *p,
                             bool disturbs)
{
    if (p->target == GL_TEXTURE_RECTANGLE || f->internal == GL_SRGB8_ALPHA8 ||
        f->attachment == GL_STENCIL_ATTACHMENT)
        return false;
    if (f->attachment == GL_DEPTH_ATTACHMENT)
        return p->target == GL_TEXTURE_2D && p->level == 0 && !disturbs;
    return !disturbs || p->level == 1;
}

GROUP("each place", add_fetch_case, add_read_pixels_case)
TAG("bytes")

TEST(each_level_layer_and_face_is_read, PLACES * 2)
{
    static const int formats[] = {0, 1, 3, 5, 9, 14, 16};
    const struct place *p = &places[_i / 2];
    const bool disturbs = _i % 2;
    const size_t count = p->target == GL_TEXTURE_3D ? 5 : 7; /* 3D textures have no depth */
    unsigned expected_blits = 0;
    for (size_t i = 0; i < count; i++) {
        const struct attachment_format *f = &attachment_formats[formats[i]];
        const bool reported = check_texture(f, p, disturbs);
        expected_blits += has_shader && !(reported && is_read_directly(f, p, disturbs));
    }
    ck_assert_uint_eq(dispatches, has_shader ? count : 0);
    ck_assert_uint_eq(blits, expected_blits);
}

GROUP("attached textures", add_fetch_case, add_read_pixels_case)

/* Attachments of a texture view have its levels and layers. */
TEST(an_attached_texture_view_is_read, 2)
{
    const gr_framebuffer_options options =
        GR_INIT(gr_framebuffer_options, .width = WIDTH, .height = HEIGHT);
    const struct place original = {GL_TEXTURE_2D_ARRAY, 0, 0, 0};
    const struct place in_view = {_i ? GL_TEXTURE_2D_ARRAY : GL_TEXTURE_2D, 0, _i ? 2 : -1, 0};
    GLuint view, name = make_texture(GL_RGBA8, &original);
    glGenTextures(1, &view);
    glTextureView(view, in_view.target, name, GL_RGBA8, 0, 1, 3, _i ? 4 : 1);
    GLuint framebuffer = bound_framebuffer(GL_FRAMEBUFFER);
    attach(GL_COLOR_ATTACHMENT0, view, &in_view);
    draw_pattern(attachment_rgba8);
    read_reference(attachment_rgba8, expected);
    must_fetch(framebuffer, new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4), &options);
    assert_pixels(attachment_rgba8, (size_t)WIDTH * HEIGHT * 4);
    ck_assert_uint_eq(dispatches, has_shader);
    ck_assert_uint_eq(blits, 0);
}

/* Catches: on Mesa, which reports layer 0 for each layer, the first layer was read. */
TEST(each_multisampled_layer_is_read)
{
    GLuint name;
    glCreateTextures(GL_TEXTURE_2D_MULTISAMPLE_ARRAY, 1, &name);
    glTextureStorage3DMultisample(name, 4, GL_RGBA8, WIDTH, HEIGHT, 3, GL_TRUE);
    GLuint framebuffer = bound_framebuffer(GL_FRAMEBUFFER);
    for (int i = 0; i < 6; i++) {
        glFramebufferTextureLayer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, name, 0, i % 3);
        if (i < 3)
            clear_framebuffer(attachment_rgba8, 100 + (unsigned)i);
        must_fetch(framebuffer, new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4), NULL);
        ck_assert_int_eq(fetched[0], 100 + i % 3);
    }
    ck_assert_uint_eq(dispatches, has_shader ? 6 : 0);
}

/*
 * glTexImage2D() leaves a texture that shaders cannot read, since it lacks levels, unless its
 * filter needs none.
 */
TEST(a_texture_without_levels_is_read, 2)
{
    GLuint framebuffer;
    GLuint name = bound_texture(GL_TEXTURE_2D);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, WIDTH, HEIGHT, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    if (_i)
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    framebuffer = bound_framebuffer(GL_FRAMEBUFFER);
    glFramebufferTexture(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, name, 0);
    draw_pattern(attachment_rgba8);
    read_reference(attachment_rgba8, expected);
    must_fetch(framebuffer, new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4), NULL);
    assert_pixels(attachment_rgba8, (size_t)WIDTH * HEIGHT * 4);
    ck_assert_uint_eq(dispatches, has_shader);
    ck_assert_uint_eq(blits, has_shader && !_i);
}

/* The rectangle of a texture that the shader reads itself. */
TEST(a_rectangle_of_a_texture_is_read, 2)
{
    const struct attachment_format *f = _i ? attachment_depth24 : attachment_rgba8;
    const struct place *p = &places[0];
    const gr_framebuffer_options options =
        GR_INIT(gr_framebuffer_options, .attachment = f->attachment, .x = 3, .y = 2,
                .width = WIDTH - 4, .height = HEIGHT - 3);
    const size_t size = f->channels * gr_dtype_get_info(f->dtype)->size;
    const GLuint name = make_texture(f->internal, p);
    GLuint framebuffer = bound_framebuffer(GL_FRAMEBUFFER);
    attach(f->attachment, name, p);
    draw_pattern(f);
    read_reference(f, expected);
    must_fetch(framebuffer, new_tensor(f->dtype, options.height, options.width, f->channels),
               &options);
    for (unsigned y = 0; y < options.height; y++)
        memmove(expected + y * options.width * size, expected + ((y + 2) * WIDTH + 3) * size,
                options.width * size);
    assert_pixels(f, options.width * (size_t)options.height * size);
    ck_assert_uint_eq(dispatches, has_shader);
    ck_assert_uint_eq(blits, 0);
}

/* Depth and stencil in one frame, and rectangles of different sizes, share the shader. */
TEST(attachments_are_read_in_turn)
{
    gr_framebuffer_options options = GR_INIT(gr_framebuffer_options);
    GLuint framebuffers[4];
    static const int formats[] = {0, 12, 16, 8};
    for (int i = 0; i < 4; i++) {
        framebuffers[i] = make_framebuffer(&attachment_formats[formats[i]], 0);
        draw_pattern(&attachment_formats[formats[i]]);
    }
    for (unsigned turn = 0; turn < 12; turn++) {
        const struct attachment_format *f = &attachment_formats[formats[turn % 4]];
        options.attachment = f->attachment;
        options.height = turn < 4 ? 3 : HEIGHT;
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[turn % 4]);
        read_reference(f, expected);
        must_fetch(framebuffers[turn % 4], new_tensor(f->dtype, options.height, WIDTH, f->channels),
                   &options);
        assert_pixels(f, WIDTH * (size_t)options.height * f->channels *
                             gr_dtype_get_info(f->dtype)->size);
    }
}

enum { X = 1, Y = 3, LARGE_WIDTH = 2051, LARGE_HEIGHT = 1030 };

static GLuint make_large(const struct attachment_format *f, int samples)
{
    const GLuint framebuffer = make_framebuffer_of(f, samples, X + LARGE_WIDTH, Y + LARGE_HEIGHT);
    glEnable(GL_SCISSOR_TEST);
    for (int i = 0; i < 256; i++) {
        glScissor(i * 1237 % LARGE_WIDTH, 4 * i, 500, 500);
        clear_framebuffer(f, (unsigned)i);
    }
    glDisable(GL_SCISSOR_TEST);
    return framebuffer;
}

GROUP("large attachments", add_fetch_case, add_read_pixels_case)
TAG("bytes")

/* The textures of the shader do not grow with the attachment. The rows are not whole words. */
TEST(a_large_attachment_is_read_in_strips, 3)
{
    static const int formats[] = {3, 0, 16};
    const struct attachment_format *f = &attachment_formats[formats[_i]];
    const size_t size = (size_t)LARGE_WIDTH * LARGE_HEIGHT * f->channels;
    const int64_t shape[] = {LARGE_HEIGHT, LARGE_WIDTH, f->channels};
    const gr_framebuffer_options options =
        GR_INIT(gr_framebuffer_options, .attachment = f->attachment, .x = X, .y = Y);
    unsigned char *want = must_allocate(size), *got = must_allocate(size);
    gr_tensor *to = tensor_of(f->dtype, GR_LAYOUT_SHAPE, f->channels > 1 ? 3 : 2, shape, NULL);
    make_large(f, 0);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(X, Y, LARGE_WIDTH, LARGE_HEIGHT, f->transfer, f->type, want);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    assert_ok(gr_fetch_framebuffer(make_large(f, 4), to, &options, fx.stream));
    tensor_to_host(to, got, size);
    ck_assert(memcmp(got, want, size) == 0);
    ck_assert_uint_eq(blits, has_shader ? 2 : 1);
    ck_assert_uint_eq(dispatches, has_shader ? 2 : 0);
    ck_assert_uint_eq(textures, has_shader);
    ck_assert_uint_le(most_texels, 1 << 21);
    free(want);
    free(got);
}

GROUP("attached textures", add_fetch_case, add_read_pixels_case)

/* Catches: sizes that alternate made one texture after another. */
TEST(sizes_that_alternate_share_a_texture)
{
    GLuint framebuffers[2];
    for (int i = 0; i < 2; i++) {
        framebuffers[i] =
            make_framebuffer_of(attachment_rgba8, 0, i ? HEIGHT : WIDTH, i ? WIDTH : HEIGHT);
        clear_framebuffer(attachment_rgba8, 50 + (unsigned)i);
    }
    for (int i = 0; i < 6; i++) {
        must_fetch(framebuffers[i % 2],
                   new_tensor(GR_DTYPE_U8, i % 2 ? WIDTH : HEIGHT, i % 2 ? HEIGHT : WIDTH, 4),
                   NULL);
        ck_assert_int_eq(fetched[4 * (WIDTH * HEIGHT - 1)], 50 + i % 2);
    }
    ck_assert_uint_eq(textures, has_shader ? 2 : 0);
}

/* The shader writes whole words: the bytes after the pixels stay. */
TEST(bytes_after_the_pixels_stay)
{
    const struct attachment_format *r8 = &attachment_formats[3];
    const size_t pixels = (size_t)WIDTH * HEIGHT;
    const GLuint framebuffer = make_framebuffer(r8, 0), name = gl_buffer_filled(MOST_BYTES, 0x5a);
    GR_AUTO(gr_resource) *staging = must_register(name);
    const gr_framebuffer_options options = GR_INIT(gr_framebuffer_options, .staging = staging);
    clear_framebuffer(r8, 200);
    must_fetch(framebuffer, new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 1), &options);
    glBindBuffer(GL_COPY_READ_BUFFER, name);
    glGetBufferSubData(GL_COPY_READ_BUFFER, 0, MOST_BYTES, expected);
    ck_assert_int_eq(expected[pixels - 1], 199);
    assert_bytes(expected + pixels, MOST_BYTES - pixels, 0x5a);
    ck_assert_uint_eq(dispatches, has_shader);
}

/* ---- State ----------------------------------------------------------------------------------- */

GROUP("the state of the application", add_fetch_case)

/* Another current program resets the subroutines: then glReadPixels() reads the framebuffer. */
TEST(selected_subroutines_stay, 2)
{
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    const GLuint program = make_subroutines();
    GLuint pipeline = 0;
    if (_i) {
        glCreateProgramPipelines(1, &pipeline);
        glUseProgramStages(pipeline, GL_VERTEX_SHADER_BIT, program);
        glBindProgramPipeline(pipeline);
    } else {
        glUseProgram(program);
    }
    for (GLuint i = 0; i < 2; i++) {
        GLuint chosen = i;
        glUniformSubroutinesuiv(GL_VERTEX_SHADER, 1, &chosen);
        assert_gl_clean();
        must_fetch(framebuffer, new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4), NULL);
        glGetUniformSubroutineuiv(GL_VERTEX_SHADER, 0, &chosen);
        ck_assert_uint_eq(chosen, i);
    }
    ck_assert_uint_eq(dispatches, 0);
    glUseProgram(0);
    glBindProgramPipeline(0);
    glDeleteProgramPipelines(1, &pipeline);
    glDeleteProgram(program);
    assert_gl_clean();
}

/*
 * Conditional rendering would discard a dispatch, transform feedback refuses another program, and a
 * program that was deleted or failed to link again could not be current again: then glReadPixels()
 * reads the framebuffer.
 */
enum { CONDITIONAL, FEEDBACK, DELETED, LINKED_IN_VAIN, STATES };
TEST(a_state_without_dispatches_does_not_matter, STATES)
{
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    gr_tensor *to = new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4);
    GLint current = 0;
    clear_framebuffer(attachment_rgba8, 33);
    const GLuint name = _i == CONDITIONAL ? begin_condition() : begin_feedback();
    if (_i > FEEDBACK)
        glEndTransformFeedback();
    if (_i == DELETED)
        glDeleteProgram(name);
    if (_i == LINKED_IN_VAIN)
        link_in_vain(name);
    assert_gl_clean();
    assert_ok(gr_fetch_framebuffer(framebuffer, to, NULL, fx.stream));
    assert_gl_clean();
    if (_i == CONDITIONAL) {
        glBeginConditionalRender(name, GL_QUERY_WAIT); /* it is still active */
        ck_assert_uint_eq(glGetError(), GL_INVALID_OPERATION);
        glEndConditionalRender();
        glDeleteQueries(1, &name);
    } else {
        glGetIntegerv(GL_CURRENT_PROGRAM, &current);
        ck_assert_uint_eq((GLuint)current, name);
        ck_assert(glIsProgram(name));
    }
    if (_i == FEEDBACK)
        glEndTransformFeedback();
    assert_gl_clean();
    download_tensor(to);
    ck_assert_int_eq(fetched[4], 33);
    ck_assert_uint_eq(dispatches, 0);
}

TEST(a_query_of_the_application_counts_no_invocations)
{
    GLuint query, count = 1;
    if (!epoxy_has_gl_extension("GL_ARB_pipeline_statistics_query"))
        skip("OpenGL has no GL_ARB_pipeline_statistics_query");
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    clear_framebuffer(attachment_rgba8, 44);
    glGenQueries(1, &query);
    glBeginQuery(GL_COMPUTE_SHADER_INVOCATIONS, query);
    must_fetch(framebuffer, new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4), NULL);
    glEndQuery(GL_COMPUTE_SHADER_INVOCATIONS);
    glGetQueryObjectuiv(query, GL_QUERY_RESULT, &count);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(fetched[0], 44);
    ck_assert_uint_eq(dispatches, 0);
    glDeleteQueries(1, &query);
}

/* Binds one object where the shader binds its own. */
enum { BUFFER, IMAGE, TEXTURE, OTHER_TEXTURE, SAMPLER, BINDINGS };

static GLuint bind_one(int binding)
{
    GLuint name;
    if (binding == BUFFER) {
        name = gl_buffer_filled(64, 0);
        glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 7, name);
        glBindBuffer(GL_SHADER_STORAGE_BUFFER, 0);
        glBindBuffer(GL_COPY_READ_BUFFER, 0);
    } else if (binding == SAMPLER) {
        glCreateSamplers(1, &name);
        glBindSampler(94, name);
    } else {
        glCreateTextures(GL_TEXTURE_2D, 1, &name);
        glTextureStorage2D(name, 1, GL_RGBA8, 4, 4);
        if (binding == IMAGE)
            glBindImageTexture(5, name, 0, GL_FALSE, 0, GL_READ_ONLY, GL_RGBA8);
        else
            glBindTextureUnit(94, name);
    }
    return name;
}

/* Deletes the object; for OTHER_TEXTURE its name becomes that of a 3D texture. */
static void end_one(int binding, GLuint name)
{
    GLuint again = 0;
    if (binding == BUFFER)
        glDeleteBuffers(1, &name);
    else if (binding == SAMPLER)
        glDeleteSamplers(1, &name);
    else
        glDeleteTextures(1, &name);
    if (binding == OTHER_TEXTURE)
        glCreateTextures(GL_TEXTURE_3D, 1, &again);
    glFinish();
}

/*
 * What another context of the share group deletes stays bound here, but could not be bound again.
 *
 * Catches: the staging buffer of grinterop stayed bound, where shaders of the application write.
 */
TEST(objects_deleted_in_another_context_stay_bound, BINDINGS)
{
    const struct attachment_format *f = _i < TEXTURE ? attachment_rgba8 : attachment_depth24;
    const gr_framebuffer_options options = options_for(f);
    GR_AUTO(gr_egl) *sharing = must_make(gr_egl_create(&GR_INIT(gr_egl_options, .share = fx.egl)));
    assert_ok(gr_egl_make_current(fx.egl));
    const GLuint framebuffer = make_framebuffer(f, 0), name = bind_one(_i);
    draw_pattern(f);
    read_reference(f, expected);
    assert_ok(gr_egl_make_current(sharing));
    end_one(_i, name);
    assert_ok(gr_egl_make_current(fx.egl));
    remember_everything();
    must_fetch(framebuffer, new_tensor(f->dtype, HEIGHT, WIDTH, f->channels), &options);
    assert_everything();
    assert_pixels(f, (size_t)WIDTH * HEIGHT * f->channels);
    ck_assert_uint_eq(dispatches, 0);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 7, 0);
    glBindImageTexture(5, 0, 0, GL_FALSE, 0, GL_READ_ONLY, GL_R8);
    glBindTextureUnit(94, 0);
    glBindSampler(94, 0);
    must_fetch(framebuffer, new_tensor(f->dtype, HEIGHT, WIDTH, f->channels), &options);
    ck_assert_uint_eq(dispatches, has_shader);
}

/* A range that the buffer has no longer is bound again. */
TEST(a_range_beyond_a_smaller_buffer_stays_bound)
{
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    const GLuint name = gl_buffer_filled(512, 0);
    glBindBufferRange(GL_SHADER_STORAGE_BUFFER, 7, name, 256, 128);
    glNamedBufferData(name, 64, NULL, GL_DYNAMIC_DRAW);
    remember_everything();
    must_fetch(framebuffer, new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4), NULL);
    assert_everything();
    ck_assert_uint_eq(dispatches, has_shader);
}

/* Without and with blits, for colour, depth and stencil, and with nothing bound. */
TEST(nothing_of_the_application_changes, 12)
{
    static const int formats[] = {0, 12, 16};
    const struct attachment_format *f = &attachment_formats[formats[_i / 4]];
    const struct place *p = &places[0];
    const gr_framebuffer_options options = GR_INIT(
        gr_framebuffer_options, .attachment = f->attachment, .width = WIDTH, .height = HEIGHT);
    gr_tensor *to = new_tensor(f->dtype, HEIGHT, WIDTH, f->channels);
    GLuint framebuffer = make_framebuffer(f, _i % 2 ? 4 : 0);
    if (_i % 2 == 0 && f->attachment != GL_STENCIL_ATTACHMENT) {
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
        const GLuint name = make_texture(f->internal, p);
        attach(f->attachment, name, p);
    }
    clear_framebuffer(f, 70);
    if (_i % 4 / 2) {
        state_bind();
        fill_units();
    }
    disturb_everything();
    remember_everything();
    for (int i = 0; i < 2; i++) { /* the first read creates the shader */
        glDeleteBuffers(-1, NULL);
        assert_ok(gr_fetch_framebuffer(framebuffer, to, &options, fx.stream));
        ck_assert_uint_eq(glGetError(), GL_INVALID_VALUE);
        assert_everything();
    }
    ck_assert_uint_eq(dispatches, 2);
    ck_assert_uint_eq(blits > 0, _i % 2 || f->attachment == GL_STENCIL_ATTACHMENT);
}

/* ---- Life ------------------------------------------------------------------------------------ */

GROUP("the life of the shader", add_fetch_case)

static void fetch(GLuint framebuffer, gr_resource *staging)
{
    const gr_framebuffer_options options = GR_INIT(gr_framebuffer_options, .staging = staging);
    const unsigned before = dispatches;
    must_fetch(framebuffer, new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4), &options);
    ck_assert_uint_eq(dispatches, before + 1);
}

TEST(it_lives_as_long_as_the_staging_buffers)
{
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    gr_resource *stagings[2];
    for (int i = 0; i < 2; i++) {
        stagings[i] = must_make(gr_create_gl_buffer(MOST_BYTES, GR_READ_ONLY, NULL));
        fetch(framebuffer, stagings[i]);
        fetch(framebuffer, stagings[i]);
        ck_assert_int_eq(programs, 1);
    }
    gr_resource_free(stagings[0]);
    ck_assert_int_eq(programs, 1);
    gr_resource_free(stagings[1]);
    ck_assert_int_eq(programs, 0);
    assert_gl_clean();
}

TEST(it_lives_as_long_as_a_registered_staging_buffer)
{
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    gr_resource *staging = must_register(gl_buffer_filled(MOST_BYTES, 1));
    fetch(framebuffer, staging);
    ck_assert_int_eq(programs, 1);
    gr_resource_free(staging);
    ck_assert_int_eq(programs, 0);
}

TEST(temporary_staging_buffers_keep_it)
{
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    for (int i = 0; i < 3; i++) {
        fetch(framebuffer, NULL);
        ck_assert_int_eq(programs, 1);
    }
}

/* A context that grinterop did not create. `share` may be EGL_NO_CONTEXT. */
static EGLContext make_own(void)
{
    static const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 5,
                                     EGL_NONE};
    EGLContext own = eglCreateContext(fx.egl->display, fx.egl->config, EGL_NO_CONTEXT, version);
    ck_assert_ptr_ne(own, EGL_NO_CONTEXT);
    ck_assert(eglMakeCurrent(fx.egl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, own));
    return own;
}

static GLuint drawn(unsigned value)
{
    const GLuint framebuffer = make_framebuffer(attachment_rgba8, 0);
    clear_framebuffer(attachment_rgba8, value);
    return framebuffer;
}

/* Its objects are gone with the context, and grinterop frees the rest later. */
TEST(it_ends_with_the_context_of_the_application)
{
    const EGLContext own = make_own();
    fetch(drawn(3), NULL);
    assert_ok(gr_egl_make_current(fx.egl));
    ck_assert(eglDestroyContext(fx.egl->display, own));
    fetch(drawn(5), NULL);
    fetch(drawn(6), NULL);
    ck_assert_int_eq(fetched[0], 6);
    ck_assert_int_eq(programs, 2);
}

/* A staging buffer that is freed elsewhere takes its shader along when the context is current. */
TEST(it_ends_when_its_context_is_current)
{
    gr_resource *staging = must_make(gr_create_gl_buffer(MOST_BYTES, GR_READ_ONLY, NULL));
    fetch(drawn(3), staging);
    const EGLContext own = make_own();
    gr_resource_free(staging);
    ck_assert_int_eq(programs, 1);
    assert_ok(gr_egl_make_current(fx.egl));
    gr_resource_free(must_make(gr_create_gl_buffer(64, GR_READ_ONLY, NULL)));
    ck_assert_int_eq(programs, 0);
    eglDestroyContext(fx.egl->display, own);
}

TEST(two_contexts_have_one_each)
{
    GLuint framebuffers[2];
    gr_egl *egls[2] = {fx.egl, must_make(gr_egl_create(NULL))};
    for (unsigned i = 0; i < 2; i++) {
        assert_ok(gr_egl_make_current(egls[i]));
        framebuffers[i] = drawn(100 + i);
    }
    for (unsigned i = 0; i < 6; i++) {
        assert_ok(gr_egl_make_current(egls[i % 2]));
        fetch(framebuffers[i % 2], NULL);
        ck_assert_int_eq(fetched[0], 100 + (int)i % 2);
    }
    ck_assert_int_eq(programs, 2);
    gr_egl_free(egls[1]);
    assert_ok(gr_egl_make_current(fx.egl));
    fetch(framebuffers[0], NULL);
}

/* A context without errors cannot tell whether it renders conditionally: glReadPixels() reads. */
TEST(contexts_with_other_attributes_are_read, 3)
{
    static const EGLint attributes[][9] = {
        {EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_OPENGL_PROFILE_MASK,
         EGL_CONTEXT_OPENGL_COMPATIBILITY_PROFILE_BIT, EGL_NONE},
        {EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 5,
         EGL_CONTEXT_OPENGL_ROBUST_ACCESS, EGL_TRUE, EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY,
         EGL_LOSE_CONTEXT_ON_RESET, EGL_NONE},
        {EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 5,
         EGL_CONTEXT_OPENGL_NO_ERROR_KHR, EGL_TRUE, EGL_NONE}};
    const EGLContext own =
        eglCreateContext(fx.egl->display, fx.egl->config, EGL_NO_CONTEXT, attributes[_i]);
    if (own == EGL_NO_CONTEXT)
        skip("this EGL has no such context: 0x%x", (unsigned)eglGetError());
    ck_assert(eglMakeCurrent(fx.egl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, own));
    must_fetch(drawn(77), new_tensor(GR_DTYPE_U8, HEIGHT, WIDTH, 4), NULL);
    ck_assert_int_eq(fetched[0], 77);
    ck_assert_uint_eq(dispatches, _i < 2);
    assert_ok(gr_egl_make_current(fx.egl));
    eglDestroyContext(fx.egl->display, own);
}
