/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenGL's state stays as the application left it over each call for images, good or refused:
 * bindings of two texture units, pixel storage, framebuffers and an error that was pending from
 * before.
 */
#include "bad_image.h"

#include <string.h>

/* ---- A state that would show a change -------------------------------------------------------- */

static const struct {
    GLenum what;
    const char *name;
    GLint value; /* that is set by glPixelStorei; 0: something is bound */
} queries[] = {
    {GL_ACTIVE_TEXTURE, "texture unit", 0},
    {GL_TEXTURE_BINDING_1D, "GL_TEXTURE_1D", 0},
    {GL_TEXTURE_BINDING_2D, "GL_TEXTURE_2D", 0},
    {GL_TEXTURE_BINDING_3D, "GL_TEXTURE_3D", 0},
    {GL_TEXTURE_BINDING_RECTANGLE, "GL_TEXTURE_RECTANGLE", 0},
    {GL_TEXTURE_BINDING_CUBE_MAP, "GL_TEXTURE_CUBE_MAP", 0},
    {GL_TEXTURE_BINDING_1D_ARRAY, "GL_TEXTURE_1D_ARRAY", 0},
    {GL_TEXTURE_BINDING_2D_ARRAY, "GL_TEXTURE_2D_ARRAY", 0},
    {GL_TEXTURE_BINDING_CUBE_MAP_ARRAY, "GL_TEXTURE_CUBE_MAP_ARRAY", 0},
    {GL_TEXTURE_BINDING_2D_MULTISAMPLE, "GL_TEXTURE_2D_MULTISAMPLE", 0},
    {GL_SAMPLER_BINDING, "sampler", 0},
    {GL_RENDERBUFFER_BINDING, "renderbuffer", 0},
    {GL_DRAW_FRAMEBUFFER_BINDING, "draw framebuffer", 0},
    {GL_READ_FRAMEBUFFER_BINDING, "read framebuffer", 0},
    {GL_PIXEL_PACK_BUFFER_BINDING, "GL_PIXEL_PACK_BUFFER", 0},
    {GL_PIXEL_UNPACK_BUFFER_BINDING, "GL_PIXEL_UNPACK_BUFFER", 0},
    {GL_PACK_ALIGNMENT, "GL_PACK_ALIGNMENT", 2},
    {GL_PACK_ROW_LENGTH, "GL_PACK_ROW_LENGTH", 33},
    {GL_PACK_IMAGE_HEIGHT, "GL_PACK_IMAGE_HEIGHT", 44},
    {GL_PACK_SKIP_PIXELS, "GL_PACK_SKIP_PIXELS", 1},
    {GL_PACK_SKIP_ROWS, "GL_PACK_SKIP_ROWS", 2},
    {GL_PACK_SKIP_IMAGES, "GL_PACK_SKIP_IMAGES", 3},
    {GL_PACK_SWAP_BYTES, "GL_PACK_SWAP_BYTES", 1},
    {GL_UNPACK_ALIGNMENT, "GL_UNPACK_ALIGNMENT", 8},
    {GL_UNPACK_ROW_LENGTH, "GL_UNPACK_ROW_LENGTH", 55},
    {GL_UNPACK_IMAGE_HEIGHT, "GL_UNPACK_IMAGE_HEIGHT", 66},
    {GL_UNPACK_SKIP_PIXELS, "GL_UNPACK_SKIP_PIXELS", 4},
    {GL_UNPACK_SKIP_ROWS, "GL_UNPACK_SKIP_ROWS", 5},
    {GL_UNPACK_SKIP_IMAGES, "GL_UNPACK_SKIP_IMAGES", 6},
    {GL_UNPACK_SWAP_BYTES, "GL_UNPACK_SWAP_BYTES", 1},
};
#define QUERY_COUNT (sizeof(queries) / sizeof(queries[0]))
#define UNITS       3

/*
 * Of the application's unit, of unit 0 and of the last one, which grinterop may use for a moment.
 */
struct state {
    GLint values[UNITS][QUERY_COUNT];
};

static GLenum units[UNITS];

static void read_state(struct state *state)
{
    GLint active = 0;
    glGetIntegerv(GL_ACTIVE_TEXTURE, &active);
    memset(state, 0, sizeof(*state));
    for (int u = 0; u < UNITS; u++) {
        if (u > 0)
            glActiveTexture(units[u]);
        for (size_t i = 0; i < QUERY_COUNT; i++)
            glGetIntegerv(queries[i].what, &state->values[u][i]);
    }
    glActiveTexture((GLenum)active);
}

/* Some texture of its own on each target of the unit. */
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

static void bind_everything(void)
{
    GLint count = 0;
    GLuint framebuffers[2], renderbuffer = 0;
    glGetIntegerv(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, &count);
    units[0] = GL_TEXTURE3;
    units[1] = GL_TEXTURE0;
    units[2] = GL_TEXTURE0 + (GLenum)count - 1;
    for (int u = UNITS - 1; u >= 0; u--)
        bind_textures(units[u]);
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glGenFramebuffers(2, framebuffers);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffers[0]);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffers[1]);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, gl_buffer_filled(64, 1));
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, gl_buffer_filled(64, 2));
    for (size_t i = 0; i < QUERY_COUNT; i++)
        if (queries[i].value != 0)
            glPixelStorei(queries[i].what, queries[i].value);
}

/* The texels are checked with OpenGL as it begins. */
static void bind_nothing(void)
{
    for (size_t i = 0; i < QUERY_COUNT; i++)
        if (queries[i].value != 0)
            glPixelStorei(queries[i].what, queries[i].what == GL_PACK_ALIGNMENT ||
                                                   queries[i].what == GL_UNPACK_ALIGNMENT
                                               ? 4
                                               : 0);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

/* ---- The calls ------------------------------------------------------------------------------- */

enum { COUNT = 6, SIZE = 7 };

static struct image images[COUNT], depth, layered, missing;
static gr_resource *resources[COUNT];
static gr_buffer *buffers[COUNT];
static GLuint unspecified;

static bool register_all(void)
{
    bool good = true;
    for (int i = 0; i < COUNT; i++) {
        resources[i] =
            gr_from_gl_image(images[i].name, images[i].target->target, GR_SURFACE_LOAD_STORE);
        good = good && resources[i];
    }
    return good;
}

static bool register_bad_ones(void)
{
    return !gr_from_gl_image(0, GL_TEXTURE_2D, GR_NONE) &&
           !gr_from_gl_image(missing.name, GL_TEXTURE_2D, GR_NONE) &&
           !gr_from_gl_image(images[0].name, GL_TEXTURE_3D, GR_NONE) &&
           !gr_from_gl_image(images[1].name, GL_TEXTURE_2D, GR_NONE) &&
           !gr_from_gl_image(images[0].name, GL_TEXTURE_2D, 0x100) &&
           !gr_from_gl_image(images[0].name, 0x1234, GR_NONE) &&
           !gr_from_gl_image(unspecified, GL_TEXTURE_2D, GR_NONE) &&
           !gr_from_gl_image(depth.name, GL_TEXTURE_2D, GR_NONE) &&
           !gr_from_gl_image(layered.name, GL_TEXTURE_1D_ARRAY, GR_NONE);
}

static bool map_all(void)
{
    return gr_map_many(resources, COUNT, fx.stream, buffers) == GR_OK;
}

static bool map_again(void)
{
    return !gr_map(resources[0], fx.stream) && !gr_map_linear(resources[0], 0, 0, fx.stream);
}

static bool ask(void)
{
    gr_image_info info;
    char text[512];
    bool good = true;
    for (int i = 0; i < COUNT; i++)
        good = good && gr_buffer_image_info(buffers[i], &info) == GR_OK &&
               gr_buffer_array(buffers[i], 0, 0) && !gr_buffer_array(buffers[i], 9, 0) &&
               gr_buffer_mipmapped_array(buffers[i]) && gr_buffer_surface(buffers[i], 0, 0) &&
               gr_buffer_texture(buffers[i], NULL) && !gr_buffer_ptr(buffers[i]) &&
               gr_resource_describe(resources[i], text, sizeof(text)) > 0;
    return good;
}

static bool copy(void)
{
    static unsigned char bytes[IMAGE_MOST_BYTES];
    const gr_linear memory = {.host = bytes};
    bool good = true;
    for (int i = 0; i < COUNT; i++)
        good = good && gr_buffer_copy_from_image(buffers[i], 0, 0, &memory, fx.stream) == GR_OK &&
               gr_buffer_copy_to_image(buffers[i], 0, 0, &memory, fx.stream) == GR_OK;
    return good;
}

static bool release_all(void)
{
    return gr_buffer_release_many(buffers, COUNT, GR_STREAM_OF_MAP) == GR_OK;
}

static bool map_linear_and_release(void)
{
    bool good = true;
    for (int i = 0; i < COUNT; i++) {
        gr_buffer *buffer = gr_map_linear(resources[i], 0, 0, fx.stream);
        good = good && buffer && gr_buffer_release(buffer) == GR_OK;
    }
    return good;
}

static bool close_mapped(void)
{
    buffers[0] = gr_map(resources[0], fx.stream);
    return gr_close(resources[0], fx.stream) == GR_OK && gr_buffer_release(buffers[0]) == GR_OK;
}

static bool free_all(void)
{
    for (int i = 0; i < COUNT; i++)
        gr_resource_free(resources[i]);
    return true;
}

static const struct {
    const char *name;
    bool (*run)(void);
} steps[] = {
    {"register_all", register_all},
    {"register_bad_ones", register_bad_ones},
    {"map_all", map_all},
    {"map_again", map_again},
    {"ask", ask},
    {"copy", copy},
    {"release_all", release_all},
    {"map_linear_and_release", map_linear_and_release},
    {"close_mapped", close_mapped},
    {"free_all", free_all},
};

static void prepare(void)
{
    static const char *const targets[COUNT] = {"2D",   "3D",       "RECT",
                                               "CUBE", "2D_ARRAY", "RENDERBUFFER"};
    for (int i = 0; i < COUNT; i++) {
        images[i] = image_make("RGBA8", targets[i], SIZE, SIZE, 2);
        image_fill(&images[i], (unsigned)i);
    }
    depth = image_make("DEPTH_COMPONENT24", "2D", SIZE, SIZE, 1);
    layered = image_make("RGBA8", "1D_ARRAY", SIZE, 1, 1);
    missing = image_make("RGBA8", "2D", SIZE, SIZE, 1);
    image_delete(&missing);
    glGenTextures(1, &unspecified);
    glBindTexture(GL_TEXTURE_2D, unspecified);
    bind_everything();
    assert_gl_clean();
}

static void run_steps(GLenum pending)
{
    static struct state before, after;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        read_state(&before);
        if (pending != GL_NO_ERROR)
            glEnable(0xFFFF);
        bool good = steps[i].run();
        GLenum error = glGetError();
        ck_assert_msg(good, "%s went wrong: %s", steps[i].name, error_text());
        ck_assert_msg(error == pending, "%s: OpenGL error 0x%04x, not 0x%04x", steps[i].name, error,
                      pending);
        ck_assert_msg(glGetError() == GL_NO_ERROR, "%s raised another error", steps[i].name);
        read_state(&after);
        for (size_t k = 0; k < UNITS * QUERY_COUNT; k++) {
            GLint was = before.values[k / QUERY_COUNT][k % QUERY_COUNT];
            GLint is = after.values[k / QUERY_COUNT][k % QUERY_COUNT];
            ck_assert_msg(was == is, "%s: %s is %d, not %d", steps[i].name,
                          queries[k % QUERY_COUNT].name, is, was);
        }
    }
    bind_nothing();
    for (int i = 0; i < COUNT; i++)
        assert_image(&images[i], (unsigned)i);
}

START_TEST(no_call_changes_bindings_or_raises_an_error)
{
    prepare();
    run_steps(GL_NO_ERROR);
}
END_TEST

START_TEST(an_error_from_before_stays_pending_over_each_call)
{
    prepare();
    run_steps(GL_INVALID_ENUM);
}
END_TEST

START_TEST(the_queries_see_a_change)
{
    static struct state state;
    prepare();
    read_state(&state);
    for (int u = 0; u < UNITS; u++)
        for (size_t i = 0; i < QUERY_COUNT; i++)
            ck_assert_msg(state.values[u][i] != 0, "%s has nothing bound", queries[i].name);
    bind_nothing();
}
END_TEST

void add_state_cases(Suite *suite)
{
    add_tests(add_image_case(suite, "state"), the_queries_see_a_change,
              no_call_changes_bindings_or_raises_an_error,
              an_error_from_before_stays_pending_over_each_call);
}
