/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The shader copies colours as integers of the same size, so that they keep their bits. Its
 * bindings are those that applications use last; gl/context/shader_bindings.c restores them.
 */
#include "gl/texels/texel_shader.h"

#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

#include "lib/base/error.h"
#include "lib/base/lock.h"
#include "gl/context/saved_state.h"

/*
 * The most texels of a texture, which takes up to 32 MiB then. Textures of the whole attachment
 * would take up to 507 MiB for 7680 x 4320 pixels, and are 5 % faster there on an H100.
 */
#define MOST_TEXELS (1 << 21)

/* The size of the groups of the shader. */
#define GROUP_WIDTH  64
#define GROUP_HEIGHT 4

/* The other bindings of the shader. OpenGL 4.5 has at least 8 and 96. */
#define FIRST_IMAGE  3
#define FIRST_SAMPLE 94
#define FIRST_MULTI  92

/* The kind of samples of colours, depth and stencil in the shader. */
#define MULTISAMPLED 3

/*
 * `pixel`: the bytes of a pixel. Pixels of 4 bytes or more have an invocation each. When the buffer
 * is written with smaller ones, an invocation writes a word, and the last word keeps its other
 * bytes.
 */
static const char source[] =
    "#version 450\n"
    "layout(local_size_x = 64, local_size_y = 4) in;\n"
    "layout(binding = 3, r8ui) uniform uimage2D texels1;\n"
    "layout(binding = 4, r16ui) uniform uimage2D texels2;\n"
    "layout(binding = 5, r32ui) uniform uimage2D texels4;\n"
    "layout(binding = 6, rg32ui) uniform uimage2D texels8;\n"
    "layout(binding = 7, rgba32ui) uniform uimage2D texels16;\n"
    "layout(binding = 92) uniform sampler2DMS depths;\n"
    "layout(binding = 93) uniform usampler2DMS samples;\n"
    "layout(binding = 94) uniform sampler2D depth;\n"
    "layout(binding = 95) uniform usampler2D stencil;\n"
    "layout(binding = 7, std430) buffer Buffer { uint words[]; };\n"
    "layout(location = 0) uniform uvec4 arguments[3];\n"
    "uvec2 size = arguments[0].xy;\n"
    "ivec2 origin = ivec2(arguments[0].zw);\n"
    "uint kind = arguments[1].x, pixel = arguments[1].y, base = arguments[1].z;\n"
    "bool to_image = arguments[1].w != 0u;\n"
    "uvec4 load(uvec2 from) {\n"
    "    ivec2 at = origin + ivec2(from);\n"
    "    if (kind == 1u)\n"
    "        return uvec4(floatBitsToUint(texelFetch(depth, at, 0).r), 0u, 0u, 0u);\n"
    "    if (kind == 2u)\n"
    "        return texelFetch(stencil, at, 0);\n"
    "    int which = int(arguments[2].x);\n"
    "    if (kind == 4u)\n"
    "        return uvec4(floatBitsToUint(texelFetch(depths, at, which).r), 0u, 0u, 0u);\n"
    "    if (kind > 2u)\n"
    "        return texelFetch(samples, at, which);\n"
    "    switch (pixel) {\n"
    "    case 1u: return imageLoad(texels1, at);\n"
    "    case 2u: return imageLoad(texels2, at);\n"
    "    case 4u: return imageLoad(texels4, at);\n"
    "    case 8u: return imageLoad(texels8, at);\n"
    "    default: return imageLoad(texels16, at);\n"
    "    }\n"
    "}\n"
    "void store(uvec2 to, uvec4 texel) {\n"
    "    ivec2 at = origin + ivec2(to);\n"
    "    switch (pixel) {\n"
    "    case 1u: imageStore(texels1, at, texel); break;\n"
    "    case 2u: imageStore(texels2, at, texel); break;\n"
    "    case 4u: imageStore(texels4, at, texel); break;\n"
    "    case 8u: imageStore(texels8, at, texel); break;\n"
    "    default: imageStore(texels16, at, texel); break;\n"
    "    }\n"
    "}\n"
    "void write_image(uvec2 at) {\n"
    "    uint i = at.y * size.x + at.x;\n"
    "    if (any(greaterThanEqual(at, size)))\n"
    "        return;\n"
    "    if (pixel < 4u) {\n"
    "        uint bits = i * pixel % 4u * 8u, word = words[base + i * pixel / 4u];\n"
    "        store(at, uvec4(word >> bits & ((1u << 8u * pixel) - 1u), 0u, 0u, 0u));\n"
    "        return;\n"
    "    }\n"
    "    uint count = pixel / 4u, first = base + i * count;\n"
    "    uvec4 texel = uvec4(words[first], 0u, 0u, 0u);\n"
    "    if (count > 1u)\n"
    "        texel.y = words[first + 1u];\n"
    "    if (count > 2u)\n"
    "        texel.zw = uvec2(words[first + 2u], words[first + 3u]);\n"
    "    store(at, texel);\n"
    "}\n"
    "void write_pixel(uvec2 at) {\n"
    "    if (any(greaterThanEqual(at, size)))\n"
    "        return;\n"
    "    uvec4 texel = load(at);\n"
    "    uint count = pixel / 4u, first = base + (at.y * size.x + at.x) * count;\n"
    "    words[first] = texel.x;\n"
    "    if (count > 1u)\n"
    "        words[first + 1u] = texel.y;\n"
    "    if (count > 2u) {\n"
    "        words[first + 2u] = texel.z;\n"
    "        words[first + 3u] = texel.w;\n"
    "    }\n"
    "}\n"
    "void write_word(uint i) {\n"
    "    uint word = 0u, bits = 0u, at = i * (4u / pixel);\n"
    "    for (; at < size.x * size.y && bits < 32u; at++) {\n"
    "        word |= load(uvec2(at % size.x, at / size.x)).r << bits;\n"
    "        bits += 8u * pixel;\n"
    "    }\n"
    "    if (bits > 0u && bits < 32u)\n"
    "        word |= words[base + i] & (0xffffffffu << bits);\n"
    "    if (bits > 0u)\n"
    "        words[base + i] = word;\n"
    "}\n"
    "void main() {\n"
    "    uvec2 at = gl_GlobalInvocationID.xy;\n"
    "    if (to_image)\n"
    "        write_image(at);\n"
    "    else if (pixel >= 4u)\n"
    "        write_pixel(at);\n"
    "    else\n"
    "        write_word(at.y * gl_NumWorkGroups.x * gl_WorkGroupSize.x + at.x);\n"
    "}\n";

/* The lock protects the list and the fields `users` and `kept`. */
static struct gr_lock lock = GR_LOCK(TEXEL_SHADERS);
static struct gl_shader *shaders;

/* ---- Life ------------------------------------------------------------------------------------ */

static void delete_texture(struct gl_shader_texture *texture)
{
    if (texture->view != texture->name)
        glDeleteTextures(1, &texture->view);
    if (texture->name)
        glDeleteTextures(1, &texture->name);
    *texture = (struct gl_shader_texture){0};
}

static void delete_objects(struct gl_shader *s)
{
    for (int i = 0; i < GL_SHADER_TEXTURES; i++)
        delete_texture(&s->textures[i]);
    if (s->program)
        glDeleteProgram(s->program);
    if (s->bytes)
        glDeleteProgram(s->bytes);
    if (s->sampler)
        glDeleteSamplers(1, &s->sampler);
    if (s->query)
        glDeleteQueries(1, &s->query);
}

static void end_shader(struct gl_deferred *left, bool current)
{
    struct gl_shader *s = (struct gl_shader *)left;
    if (current)
        delete_objects(s);
    free(s);
}

/* Without errors OpenGL cannot tell whether it renders conditionally. */
static bool reports_errors(void)
{
    GLint flags = 0;
    glGetIntegerv(GL_CONTEXT_FLAGS, &flags);
    return !(flags & GL_CONTEXT_FLAG_NO_ERROR_BIT);
}

/*
 * Mesa on the CPU runs it 20 to 40 times as long as its own transfers of pixels: 140 ms against
 * 4 ms for an upload of GL_RGBA8 1920 x 1080.
 */
static bool runs_fast(void)
{
    const char *vendor = (const char *)glGetString(GL_VENDOR);
    return vendor && strcmp(vendor, "NVIDIA Corporation") == 0;
}

static void make(struct gl_shader *s)
{
    const char *text = source;
    GLint linked = GL_FALSE;
    GLint64 largest = 0;
    if (!reports_errors())
        return;
    s->is_fast = runs_fast();
    s->program = glCreateShaderProgramv(GL_COMPUTE_SHADER, 1, &text);
    if (s->program)
        glGetProgramiv(s->program, GL_LINK_STATUS, &linked);
    s->counted =
        epoxy_gl_version() >= 46 || epoxy_has_gl_extension("GL_ARB_pipeline_statistics_query");
    glGetInteger64v(GL_MAX_SHADER_STORAGE_BLOCK_SIZE, &largest);
    s->largest = largest;
    glGetIntegerv(GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT, &s->alignment);
    glCreateQueries(GL_SAMPLES_PASSED, 1, &s->query);
    glCreateSamplers(1, &s->sampler);
    glSamplerParameteri(s->sampler, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glSamplerParameteri(s->sampler, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    s->error = gl_errors_take();
    s->usable = s->error == GL_NO_ERROR && linked;
    if (!s->usable)
        gr_log(GR_LOG_INFO, "OpenGL did not compile a compute shader: texels are copied slowly.");
}

static void unlist(struct gl_shader *s)
{
    struct gl_shader **link = &shaders;
    while (*link != s)
        link = &(*link)->next;
    *link = s->next;
}

/* Frees the kept shaders whose contexts were destroyed, with their objects. */
static void collect(void)
{
    struct gl_shader *next;
    for (struct gl_shader *s = shaders; s; s = next) {
        next = s->next;
        if (s->users || !gl_context_is_gone(&s->left.context))
            continue;
        unlist(s);
        free(s);
    }
}

static struct gl_shader *find(const struct gl_context *context)
{
    GR_LOCKED(&lock);
    struct gl_shader *s = shaders;
    while (s && !gl_context_identical(&s->left.context, context))
        s = s->next;
    if (s)
        s->users++;
    else
        collect();
    return s;
}

static struct gl_shader *create(const struct gl_context *context)
{
    struct gl_shader *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->left = (struct gl_deferred){.context = *context, .end = end_shader};
    s->left.context.group = NULL;
    s->users = 1;
    make(s);
    s->kept = !s->usable; /* no later call tries again */
    GR_LOCKED(&lock);
    s->next = shaders;
    shaders = s;
    return s;
}

struct gl_shader *gl_shader_use(const struct gl_context *context)
{
    if (!context->pipeline || !context->computes)
        return NULL;
    struct gl_shader *s = find(context);
    if (!s && runs_fast())
        s = create(context);
    if (!s || (s->usable && s->is_fast))
        return s;
    gl_shader_drop(s);
    return NULL;
}

struct gl_shader *gl_shader_need(const struct gl_context *context)
{
    struct gl_shader *s = NULL;
    if (context->pipeline && context->computes) {
        s = find(context);
        if (!s && !(s = gr_check_memory(create(context))))
            return NULL;
    }
    if (s && s->usable)
        return s;
    if (s && s->error != GL_NO_ERROR)
        gr_fail_code(GR_ERR_GL, GR_DOMAIN_OPENGL, (int)s->error, gl_error_name(s->error),
                     "glCreateShaderProgramv", "%s: OpenGL could not create the compute shader.",
                     gr_call);
    else
        gr_fail(GR_ERR_UNSUPPORTED,
                "No compute shader can run in this context, because it lacks functions of OpenGL "
                "4.5, reports no errors or could not compile it. Leave `sample` 0 to resolve the "
                "samples.");
    gl_shader_drop(s);
    return NULL;
}

static bool end_use(struct gl_shader *s)
{
    GR_LOCKED(&lock);
    const bool last = --s->users == 0 && !s->kept;
    if (last)
        unlist(s);
    return last;
}

void gl_shader_drop(struct gl_shader *shader)
{
    if (!shader || !end_use(shader))
        return;
    if (gl_context_is_current(&shader->left.context))
        end_shader(&shader->left, true);
    else
        gl_deferred_add(&shader->left);
}

void gl_shader_pass(struct gl_shader *shader, struct gl_shader **holder)
{
    if (holder && !*holder) {
        *holder = shader;
        return;
    }
    if (!holder || *holder != shader) {
        GR_LOCKED(&lock);
        shader->kept = true;
    }
    gl_shader_drop(shader);
}

/* ---- Whether it can run ---------------------------------------------------------------------- */

bool gl_renders_conditionally(const struct gl_shader *shader)
{
    GLuint query = shader ? shader->query : 0;
    if (!query && !reports_errors())
        return false;
    if (!query)
        glCreateQueries(GL_SAMPLES_PASSED, 1, &query);
    glBeginConditionalRender(query, GL_QUERY_NO_WAIT);
    const GLenum error = gl_errors_take();
    if (error == GL_NO_ERROR)
        glEndConditionalRender();
    if (!shader)
        glDeleteQueries(1, &query);
    return error == GL_INVALID_OPERATION;
}

/*
 * Whether the current program could be current again: not after its deletion, nor if the
 * application has linked it again without success, which leaves the former executable current.
 */
static bool can_be_used_again(GLint program)
{
    GLint deleted = GL_FALSE, linked = GL_TRUE;
    if (program) {
        glGetProgramiv((GLuint)program, GL_DELETE_STATUS, &deleted);
        glGetProgramiv((GLuint)program, GL_LINK_STATUS, &linked);
    }
    return !deleted && linked;
}

/* glUseProgram() would reset the subroutines that the application has selected. */
static bool has_subroutines(GLint program)
{
    static const GLenum stages[] = {GL_VERTEX_SHADER,          GL_TESS_CONTROL_SHADER,
                                    GL_TESS_EVALUATION_SHADER, GL_GEOMETRY_SHADER,
                                    GL_FRAGMENT_SHADER,        GL_COMPUTE_SHADER};
    GLint pipeline = 0, count = 0;
    if (!program)
        glGetIntegerv(GL_PROGRAM_PIPELINE_BINDING, &pipeline);
    for (size_t i = 0; (program || pipeline) && i < sizeof(stages) / sizeof(*stages); i++) {
        GLint of = program;
        if (!program)
            glGetProgramPipelineiv((GLuint)pipeline, stages[i], &of);
        if (of)
            glGetProgramStageiv((GLuint)of, stages[i], GL_ACTIVE_SUBROUTINE_UNIFORMS, &count);
        if (count)
            return true;
    }
    return false;
}

bool gl_shader_can_run(const struct gl_shader *shader, int *program)
{
    GLint query = 0;
    GLboolean feedback = GL_FALSE;
    glGetBooleanv(GL_TRANSFORM_FEEDBACK_ACTIVE, &feedback);
    *program = 0;
    glGetIntegerv(GL_CURRENT_PROGRAM, program);
    if (feedback || !can_be_used_again(*program) || has_subroutines(*program))
        return false;
    if (shader->counted) /* a query of the application would count the invocations */
        glGetQueryiv(GL_COMPUTE_SHADER_INVOCATIONS, GL_CURRENT_QUERY, &query);
    return !query;
}

/* ---- Textures -------------------------------------------------------------------------------- */

/* The formats of the image units, by the size of a pixel: 1, 2, 4, 8 and 16 bytes. */
static const GLenum integer_formats[] = {GL_R8UI, GL_R16UI, GL_R32UI, GL_RG32UI, GL_RGBA32UI};

static GLuint unit_of(unsigned pixel)
{
    GLuint unit = 0;
    while (1u << unit < pixel)
        unit++;
    return unit;
}

static bool make_texture(struct gl_shader_texture *t, unsigned int *error)
{
    const GLenum target = t->samples ? GL_TEXTURE_2D_MULTISAMPLE : GL_TEXTURE_2D;
    glCreateTextures(target, 1, &t->name);
    if (t->samples)
        glTextureStorage2DMultisample(t->name, t->samples, t->format, t->width, t->height, GL_TRUE);
    else
        glTextureStorage2D(t->name, 1, t->format, t->width, t->height);
    t->view = t->name;
    if (t->mask == GL_STENCIL_BUFFER_BIT)
        glTextureParameteri(t->name, GL_DEPTH_STENCIL_TEXTURE_MODE, GL_STENCIL_INDEX);
    if (t->mask == GL_COLOR_BUFFER_BIT) {
        glGenTextures(1, &t->view);
        glTextureView(t->view, target, t->name, integer_formats[unit_of(t->pixel)], 0, 1, 0, 1);
    }
    *error = gl_errors_take();
    if (*error == GL_NO_ERROR)
        return true;
    delete_texture(t);
    return false;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

const struct gl_shader_texture *gl_shader_texture(struct gl_shader *shader,
                                                  const struct gl_shader_texture *wanted,
                                                  unsigned int *error)
{
    struct gl_shader_texture *t = NULL, fits = *wanted;
    for (int i = 0; i < GL_SHADER_TEXTURES && !t; i++)
        if (shader->textures[i].format == wanted->format &&
            shader->textures[i].mask == wanted->mask &&
            shader->textures[i].samples == wanted->samples)
            t = &shader->textures[i];
    if (t) { /* large enough for both sizes, which may alternate */
        fits.width = larger(t->width, wanted->width);
        fits.height = larger(t->height, wanted->height);
    }
    const int texels = MOST_TEXELS / larger(fits.samples, 1);
    const int rows = larger(texels / fits.width / 4 * 4, 4);
    if (fits.height > rows)
        fits.height = rows;
    if (t && t->width == fits.width && t->height == fits.height)
        return t;
    if (!t)
        t = &shader->textures[shader->oldest++ % GL_SHADER_TEXTURES];
    delete_texture(t);
    *t = fits;
    return make_texture(t, error) ? t : NULL;
}

/* ---- A copy ---------------------------------------------------------------------------------- */

/* The bindings for a copy from `offset` on, of `size` bytes. */
static struct gl_shader_bindings bindings_for(const struct gl_shader *s,
                                              const struct gl_texel_copy *c, size_t offset,
                                              size_t size)
{
    const GLuint image = unit_of(c->pixel);
    const bool sampled = c->sample || c->kind != GL_TEXELS_COLOUR;
    const GLuint sampler = c->sample ? FIRST_MULTI + (c->kind != GL_TEXELS_DEPTH)
                                     : FIRST_SAMPLE + (c->kind == GL_TEXELS_STENCIL);
    struct gl_shader_bindings b = {.uses = sampled ? GL_SHADER_SAMPLER : GL_SHADER_IMAGE,
                                   .unit = sampled ? sampler : FIRST_IMAGE + image,
                                   .is_multisample = c->sample,
                                   .program = (GLint)s->program,
                                   .texture = (GLint)c->texture,
                                   .sampler = (GLint)s->sampler,
                                   .buffers = {{(GLint)c->buffer, (int64_t)offset, (int64_t)size}},
                                   .program_before = c->program,
                                   .own_buffer = (GLint)c->buffer,
                                   .image = {(GLint)c->texture, c->level, GL_FALSE, c->layer,
                                             GL_READ_WRITE, (GLint)integer_formats[image]}};
    for (int i = 0; i < GL_SHADER_TEXTURES; i++) {
        b.own_textures[2 * i] = s->textures[i].name;
        b.own_textures[2 * i + 1] = s->textures[i].view;
    }
    return b;
}

static GLuint groups(int extent, int of_group)
{
    return (GLuint)((extent + of_group - 1) / of_group);
}

bool gl_shader_copy(const struct gl_shader *shader, const struct gl_texel_copy *c)
{
    const size_t bytes = (size_t)c->width * (size_t)c->height * c->pixel;
    const size_t before = c->offset % (size_t)shader->alignment,
                 size = before + (bytes + 3) / 4 * 4;
    const struct gl_shader_bindings ours = bindings_for(shader, c, c->offset - before, size);
    GL_SAVED(saved, 0);
    saved.ours = &ours;
    if (size > (size_t)shader->largest || !gl_save(&saved, GL_SAVE(SHADER)))
        return false;
    gl_shader_bindings_set(&ours);
    const GLuint kind = (GLuint)c->kind + (c->sample ? MULTISAMPLED : 0);
    const GLuint arguments[3][4] = {
        {(GLuint)c->width, (GLuint)c->height, (GLuint)c->x, (GLuint)c->y},
        {kind, c->pixel, (GLuint)(before / 4), c->to_image},
        {(GLuint)c->sample - 1},
    };
    glProgramUniform4uiv(shader->program, 0, 3, arguments[0]);
    glDispatchCompute(groups(c->width, GROUP_WIDTH), groups(c->height, GROUP_HEIGHT), 1);
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
    return true;
}
