/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Saves the state of OpenGL before a call and compares it afterwards; see support_state.h. */
#include "support_state.h"

#include <string.h>

#include <epoxy/egl.h>

#include "support_image.h"

static const struct {
    GLenum what;
    int version; /* the OpenGL version that introduced the query */
    const char *name;
    /* The value for glPixelStorei(). 0: this state is a binding, so an object is bound instead. */
    GLint value;
} queries[] = {
    {GL_ARRAY_BUFFER_BINDING, 30, "GL_ARRAY_BUFFER", 0},
    {GL_ELEMENT_ARRAY_BUFFER_BINDING, 30, "GL_ELEMENT_ARRAY_BUFFER", 0},
    {GL_COPY_READ_BUFFER_BINDING, 31, "GL_COPY_READ_BUFFER", 0},
    {GL_COPY_WRITE_BUFFER_BINDING, 31, "GL_COPY_WRITE_BUFFER", 0},
    {GL_PIXEL_PACK_BUFFER_BINDING, 30, "GL_PIXEL_PACK_BUFFER", 0},
    {GL_PIXEL_UNPACK_BUFFER_BINDING, 30, "GL_PIXEL_UNPACK_BUFFER", 0},
    {GL_UNIFORM_BUFFER_BINDING, 31, "GL_UNIFORM_BUFFER", 0},
    {GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, 30, "GL_TRANSFORM_FEEDBACK_BUFFER", 0},
    {GL_SHADER_STORAGE_BUFFER_BINDING, 43, "GL_SHADER_STORAGE_BUFFER", 0},
    {GL_VERTEX_ARRAY_BINDING, 30, "vertex array", 0},
    {GL_DRAW_FRAMEBUFFER_BINDING, 30, "draw framebuffer", 0},
    {GL_READ_FRAMEBUFFER_BINDING, 30, "read framebuffer", 0},
    {GL_RENDERBUFFER_BINDING, 30, "renderbuffer", 0},
    {GL_ACTIVE_TEXTURE, 30, "texture unit", 0},
    {GL_TEXTURE_BINDING_1D, 30, "GL_TEXTURE_1D", 0},
    {GL_TEXTURE_BINDING_2D, 30, "GL_TEXTURE_2D", 0},
    {GL_TEXTURE_BINDING_3D, 30, "GL_TEXTURE_3D", 0},
    {GL_TEXTURE_BINDING_RECTANGLE, 31, "GL_TEXTURE_RECTANGLE", 0},
    {GL_TEXTURE_BINDING_CUBE_MAP, 30, "GL_TEXTURE_CUBE_MAP", 0},
    {GL_TEXTURE_BINDING_1D_ARRAY, 30, "GL_TEXTURE_1D_ARRAY", 0},
    {GL_TEXTURE_BINDING_2D_ARRAY, 30, "GL_TEXTURE_2D_ARRAY", 0},
    {GL_TEXTURE_BINDING_CUBE_MAP_ARRAY, 40, "GL_TEXTURE_CUBE_MAP_ARRAY", 0},
    {GL_TEXTURE_BINDING_2D_MULTISAMPLE, 32, "GL_TEXTURE_2D_MULTISAMPLE", 0},
    {GL_SAMPLER_BINDING, 33, "sampler", 0},
    {GL_CURRENT_PROGRAM, 30, "program", 0},
    {GL_PROGRAM_PIPELINE_BINDING, 41, "program pipeline", 0},
    {GL_VIEWPORT, 30, "viewport", 0},
    {GL_PACK_ALIGNMENT, 30, "GL_PACK_ALIGNMENT", 2},
    {GL_PACK_ROW_LENGTH, 30, "GL_PACK_ROW_LENGTH", 33},
    {GL_PACK_IMAGE_HEIGHT, 30, "GL_PACK_IMAGE_HEIGHT", 44},
    {GL_PACK_SKIP_PIXELS, 30, "GL_PACK_SKIP_PIXELS", 1},
    {GL_PACK_SKIP_ROWS, 30, "GL_PACK_SKIP_ROWS", 2},
    {GL_PACK_SKIP_IMAGES, 30, "GL_PACK_SKIP_IMAGES", 3},
    {GL_PACK_SWAP_BYTES, 30, "GL_PACK_SWAP_BYTES", 1},
    {GL_UNPACK_ALIGNMENT, 30, "GL_UNPACK_ALIGNMENT", 8},
    {GL_UNPACK_ROW_LENGTH, 30, "GL_UNPACK_ROW_LENGTH", 55},
    {GL_UNPACK_IMAGE_HEIGHT, 30, "GL_UNPACK_IMAGE_HEIGHT", 66},
    {GL_UNPACK_SKIP_PIXELS, 30, "GL_UNPACK_SKIP_PIXELS", 4},
    {GL_UNPACK_SKIP_ROWS, 30, "GL_UNPACK_SKIP_ROWS", 5},
    {GL_UNPACK_SKIP_IMAGES, 30, "GL_UNPACK_SKIP_IMAGES", 6},
    {GL_UNPACK_SWAP_BYTES, 30, "GL_UNPACK_SWAP_BYTES", 1},
};
#define QUERY_COUNT (sizeof(queries) / sizeof(queries[0]))
#define UNITS       3

/*
 * The texture units that the steps check: the unit that the application uses, unit 0, and the last
 * unit, which grinterop may use temporarily.
 */
static GLenum units[UNITS];

struct state {
    GLint values[UNITS][QUERY_COUNT];
    EGLContext context;
    CUcontext cuda;
};

static GLint ask(GLenum what)
{
    GLint values[4] = {0};
    glGetIntegerv(what, values);
    return values[what == GL_VIEWPORT ? 2 : 0];
}

static void read_state(struct state *state)
{
    GLenum active = (GLenum)ask(GL_ACTIVE_TEXTURE);
    memset(state, 0, sizeof(*state));
    for (int u = 0; u < UNITS; u++) {
        if (u > 0)
            glActiveTexture(units[u]);
        for (size_t i = 0; i < QUERY_COUNT; i++)
            if (epoxy_gl_version() >= queries[i].version)
                state->values[u][i] = ask(queries[i].what);
    }
    glActiveTexture(active);
    state->context = eglGetCurrentContext();
    CU(CtxGetCurrent(&state->cuda));
}

/* ---- A state in which changes show ----------------------------------------------------------- */

static void bind_buffers(void)
{
    static const struct {
        GLenum target;
        int version;
    } targets[] = {{GL_ARRAY_BUFFER, 30},         {GL_ELEMENT_ARRAY_BUFFER, 30},
                   {GL_COPY_READ_BUFFER, 31},     {GL_COPY_WRITE_BUFFER, 31},
                   {GL_PIXEL_PACK_BUFFER, 30},    {GL_PIXEL_UNPACK_BUFFER, 30},
                   {GL_UNIFORM_BUFFER, 31},       {GL_TRANSFORM_FEEDBACK_BUFFER, 30},
                   {GL_SHADER_STORAGE_BUFFER, 43}};
    GLuint vertices = 0;
    glGenVertexArrays(1, &vertices);
    glBindVertexArray(vertices);
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
        if (epoxy_gl_version() >= targets[i].version)
            glBindBuffer(targets[i].target, gl_buffer_filled(64, 0));
}

static void bind_framebuffers(void)
{
    GLuint framebuffers[2];
    glGenFramebuffers(2, framebuffers);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffers[0]);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffers[1]);
    bound_renderbuffer();
}

/* Binds a new texture to each target of the unit. */
static void bind_textures(GLenum unit)
{
    glActiveTexture(unit);
    for (size_t i = 0; i < image_target_count; i++) {
        GLuint name = 0;
        if (image_targets[i].target == GL_RENDERBUFFER)
            continue;
        glGenTextures(1, &name);
        glBindTexture(image_targets[i].target, name);
    }
    GLuint sampler = 0;
    glGenSamplers(1, &sampler);
    glBindSampler(unit - GL_TEXTURE0, sampler);
}

void state_bind(void)
{
    GLuint pipeline = 0;
    units[0] = GL_TEXTURE3;
    units[1] = GL_TEXTURE0;
    units[2] = GL_TEXTURE0 + (GLenum)ask(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS) - 1;
    for (int u = UNITS - 1; u >= 0; u--)
        bind_textures(units[u]);
    bind_buffers();
    bind_framebuffers();
    if (epoxy_gl_version() >= 41) {
        glGenProgramPipelines(1, &pipeline);
        glBindProgramPipeline(pipeline);
    }
    gl_use_some_program();
    glViewport(1, 2, 3, 4);
    for (size_t i = 0; i < QUERY_COUNT; i++)
        if (queries[i].value != 0)
            glPixelStorei(queries[i].what, queries[i].value);
    assert_gl_clean();
}

void state_assert_bound(void)
{
    struct state state;
    read_state(&state);
    for (int u = 0; u < UNITS; u++)
        for (size_t i = 0; i < QUERY_COUNT; i++)
            if (epoxy_gl_version() >= queries[i].version)
                ck_assert_msg(state.values[u][i] != 0, "%s has nothing bound", queries[i].name);
}

/* Resets the state that affects reading texels. */
static void unbind_pixels(void)
{
    for (size_t i = 0; i < QUERY_COUNT; i++) {
        GLenum what = queries[i].what;
        if (queries[i].value != 0)
            glPixelStorei(what, what == GL_PACK_ALIGNMENT || what == GL_UNPACK_ALIGNMENT ? 4 : 0);
    }
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

/* ---- Steps that preserve the state ----------------------------------------------------------- */

static void assert_same(const struct state *before, const char *step)
{
    struct state after;
    read_state(&after);
    for (size_t u = 0; u < UNITS; u++)
        for (size_t i = 0; i < QUERY_COUNT; i++)
            ck_assert_msg(after.values[u][i] == before->values[u][i], "%s: %s is %d, not %d", step,
                          queries[i].name, after.values[u][i], before->values[u][i]);
    ck_assert_msg(after.context == before->context, "%s: another EGL context", step);
    ck_assert_msg(after.cuda == before->cuda, "%s: another CUDA context", step);
}

void state_run_steps(const struct state_steps *all, GLenum pending)
{
    struct state before;
    all->prepare();
    state_bind();
    for (size_t i = 0; i < all->count; i++) {
        const char *step = all->steps[i].name;
        read_state(&before);
        if (pending != GL_NO_ERROR)
            glEnable(0xFFFF);
        bool good = all->steps[i].run();
        GLenum error = glGetError();
        ck_assert_msg(good, "%s went wrong: %s", step, error_text());
        ck_assert_msg(error == pending, "%s: OpenGL error 0x%04x, not 0x%04x", step, error,
                      pending);
        ck_assert_msg(glGetError() == GL_NO_ERROR, "%s raised another error", step);
        assert_same(&before, step);
    }
    unbind_pixels();
    if (all->finish)
        all->finish();
}
