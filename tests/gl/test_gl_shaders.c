/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shaders of the application, by each transport: a map after a compute shader has written the
 * object, and textures that shaders read by a bindless handle.
 */
#include "tests/support/shader_calls.h"
#include "tests/support/support_image.h"

#include <string.h>

#define WIDTH  128
#define HEIGHT 128
#define TEXELS (WIDTH * HEIGHT)
#define BYTES  (TEXELS * sizeof(uint32_t))
#define FRAMES 3

/* OpenGL is that of NVIDIA for these cases, so that frames in flight work. */
static TCase *add_shader_case(Suite *suite, const char *name)
{
    return with_fixture(with_sharing(add_image_case(suite, name)), watch_gl, unwatch_gl);
}

/* ---- Transports ------------------------------------------------------------------------------ */

static const struct way {
    gr_transport transport;
    unsigned in_flight;
    bool barrier; /* the application issues one; transports that copy need none */
} ways[] = {
    {GR_TRANSPORT_INTEROP, 0, true}, {GR_TRANSPORT_SHARED, 0, true}, {GR_TRANSPORT_COPY, 0, true},
    {GR_TRANSPORT_COPY, 0, false},   {GR_TRANSPORT_PEER, 0, false},  {GR_TRANSPORT_PEER, 2, true},
    {GR_TRANSPORT_PEER, 2, false},
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static gr_gl_options options_of(const struct way *way)
{
    return GR_INIT(gr_gl_options, .transports = way->transport, .in_flight = way->in_flight);
}

/* Why a case is skipped, or NULL. */
static const char *missing(const struct way *way, bool image)
{
    const gr_transport_info *info = must_make(gr_gl_probe(way->transport));
    if (!has_shader)
        return "this OpenGL has no compute shaders";
    if (image && way->transport == GR_TRANSPORT_SHARED && fx.device != fixture_drawing_device())
        return "two GPUs cannot share images";
    return info->usable ? NULL : info->reason;
}

#define need(way, image)                                                                           \
    do {                                                                                           \
        const char *missing_ = missing(way, image);                                                \
        if (missing_)                                                                              \
            skip("%s", missing_);                                                                  \
    } while (0)

/* ---- Shaders --------------------------------------------------------------------------------- */

static GLuint program_of(const char *text)
{
    GLuint program = glCreateShaderProgramv(GL_COMPUTE_SHADER, 1, &text);
    GLint linked = 0;
    char log[500] = "";
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    glGetProgramInfoLog(program, sizeof(log), NULL, log);
    ck_assert_msg(linked, "%s", log);
    return program;
}

static void run(GLuint program)
{
    glUseProgram(program);
    glDispatchCompute(WIDTH / 8, HEIGHT / 8, 1);
    glUseProgram(0);
}

#define SIZES      "layout(local_size_x = 8, local_size_y = 8) in;\n"
#define TEXEL      "ivec2 at = ivec2(gl_GlobalInvocationID); int i = at.y * 128 + at.x;\n"
#define WORDS      "layout(std430, binding = 0) buffer Words { uint words[]; };\n"
#define WORD(seed) "uint(i) * 2654435761u + " seed

static uint32_t word(uint32_t i, uint32_t seed)
{
    return i * 2654435761u + seed;
}

static void assert_words(const uint32_t *words, uint32_t seed)
{
    for (uint32_t i = 0; i < TEXELS; i++)
        ck_assert_msg(words[i] == word(i, seed), "frame %u: word %u is 0x%08x, not 0x%08x", seed, i,
                      words[i], word(i, seed));
}

static void run_with(GLuint program, uint32_t seed, bool barrier)
{
    glProgramUniform1ui(program, 0, seed);
    run(program);
    if (barrier)
        glMemoryBarrier(GL_ALL_BARRIER_BITS);
}

/* ---- Writes ---------------------------------------------------------------------------------- */

GROUP("writes of shaders", add_shader_case)

static gr_resource *make_buffer(const struct way *way)
{
    const gr_gl_options options = options_of(way);
    return must_make(way->transport == GR_TRANSPORT_SHARED
                         ? gr_create_gl_buffer(BYTES, GR_READ_ONLY, &options)
                         : gr_from_gl_buffer_with(gl_buffer(NULL, BYTES), GR_READ_ONLY, &options));
}

TEST(a_map_has_the_words_that_a_shader_stored, WAYS)
{
    static uint32_t words[TEXELS];
    const struct way *way = &ways[_i];
    need(way, false);
    const GLuint program =
        program_of("#version 430\n" SIZES WORDS "layout(location = 0) uniform uint seed;\n"
                   "void main() { " TEXEL " words[i] = " WORD("seed") "; }\n");
    GR_AUTO(gr_resource) *resource = make_buffer(way);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, gr_gl_name(resource));
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        run_with(program, frame, way->barrier);
        gr_buffer *buffer = must_map(resource);
        cuda_read(words, gr_buffer_ptr(buffer), BYTES, fx.stream);
        assert_ok(gr_buffer_release(buffer));
        assert_words(words, frame);
    }
    glDeleteProgram(program);
}

static gr_resource *make_image(const struct way *way)
{
    const gr_gl_options options = options_of(way);
    if (way->transport == GR_TRANSPORT_SHARED)
        return must_make(gr_create_gl_image(&GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D,
                                                     .internal_format = GL_R32UI, .width = WIDTH,
                                                     .height = HEIGHT),
                                            GR_READ_ONLY, &options));
    const struct image image = image_make("R32UI", "2D", WIDTH, HEIGHT, 1);
    return must_make(gr_from_gl_image_with(image.name, GL_TEXTURE_2D, GR_READ_ONLY, &options));
}

TEST(a_map_has_the_texels_that_a_shader_stored, WAYS)
{
    static uint32_t words[TEXELS];
    const struct way *way = &ways[_i];
    need(way, true);
    const GLuint program = program_of(
        "#version 430\n" SIZES "layout(r32ui, binding = 0) uniform writeonly uimage2D to;\n"
        "layout(location = 0) uniform uint seed;\n"
        "void main() { " TEXEL " imageStore(to, at, uvec4(" WORD("seed") ")); }\n");
    GR_AUTO(gr_resource) *resource = make_image(way);
    glBindImageTexture(0, gr_gl_name(resource), 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_R32UI);
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        run_with(program, frame, way->barrier);
        gr_buffer *buffer = must_map_image(resource);
        image_get(buffer, 0, 0, words);
        assert_ok(gr_buffer_release(buffer));
        assert_words(words, frame);
    }
    glDeleteProgram(program);
}

/* ---- Bindless handles ------------------------------------------------------------------------ */

GROUP("bindless handles", add_shader_case)

static GLuint64 make_resident(GLuint texture)
{
    const GLuint64 handle = glGetTextureHandleARB(texture);
    assert_gl_clean();
    glMakeTextureHandleResidentARB(handle);
    assert_gl_clean();
    return handle;
}

/* A shader must read the pattern by the handle. */
static void assert_handle(GLuint64 handle, const struct image *image, unsigned seed)
{
    static unsigned char wanted[BYTES];
    const GLuint program = program_of("#version 430\n"
                                      "#extension GL_ARB_bindless_texture : require\n" SIZES WORDS
                                      "layout(bindless_sampler, location = 0) uniform sampler2D t;"
                                      "void main() { " TEXEL
                                      " words[i] = packUnorm4x8(texelFetch(t, at, 0)); }\n"),
                 words = gl_buffer(NULL, BYTES);
    glProgramUniformHandleui64ARB(program, 0, handle);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, words);
    run(program);
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
    unsigned char *read = must_allocate(BYTES);
    gl_read(words, read, BYTES);
    image_pattern(image->format, wanted, BYTES, seed);
    ck_assert_mem_eq(read, wanted, BYTES);
    free(read);
    glDeleteProgram(program);
    assert_gl_clean();
}

/* The handle is resident before the resource exists, or from then on. */
TEST(textures_with_a_resident_handle_are_written, 2 * WAYS)
{
    static unsigned char texels[BYTES];
    const struct way *way = &ways[_i / 2];
    const bool handle_first = _i % 2;
    const gr_gl_options options = options_of(way);
    need(way, true);
    if (!epoxy_has_gl_extension("GL_ARB_bindless_texture"))
        skip("this OpenGL lacks GL_ARB_bindless_texture");
    if (way->transport == GR_TRANSPORT_SHARED)
        return;
    const struct image image = image_filled("RGBA8", "2D", WIDTH, HEIGHT, 1, 1);
    GLuint64 handle = handle_first ? make_resident(image.name) : 0;
    if (handle_first && way->transport == GR_TRANSPORT_INTEROP) { /* NVIDIA's driver refuses */
        assert_null(gr_from_gl_image_with(image.name, GL_TEXTURE_2D, GR_WRITE_DISCARD, &options),
                    GR_ERR_CUDA, CUDA_ERROR_INVALID_HANDLE,
                    "textures that have a bindless handle already");
        assert_handle(handle, &image, image_seed(1, 0, 0));
        glMakeTextureHandleNonResidentARB(handle);
        image_delete(&image);
        return;
    }
    gr_resource *resource =
        must_make(gr_from_gl_image_with(image.name, GL_TEXTURE_2D, GR_WRITE_DISCARD, &options));
    if (!handle_first)
        handle = make_resident(image.name);
    for (unsigned frame = 2; frame < 2 + FRAMES; frame++) {
        gr_buffer *buffer = must_map_image(resource);
        image_pattern(image.format, texels, BYTES, frame);
        image_put(buffer, 0, 0, texels);
        assert_ok(gr_buffer_release(buffer));
        assert_handle(handle, &image, frame);
    }
    gr_resource_free(resource);
    assert_handle(handle, &image, 1 + FRAMES);
    glMakeTextureHandleNonResidentARB(handle);
    image_delete(&image);
    assert_gl_clean();
}
