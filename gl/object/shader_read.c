/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A compute shader in the private context writes the texels of the attachment to the buffer. It
 * reads colours as integers of the same size, so that they keep their bits.
 *
 * A shader cannot read renderbuffers, samples, and textures whose parameters hide the attached
 * level. glBlitFramebuffer() first copies these to a texture, resolves samples, and ignores the
 * parameters of textures. On an H100 the copy of 1920 x 1080 pixels takes 165 us, the shader 12 us.
 */
#include "gl/object/shader_read.h"

#include <stdlib.h>

#include <epoxy/gl.h>

#include "lib/cuda/array_format.h"
#include "lib/resource/resource.h"
#include "gl/context/private_context.h"
#include "gl/context/saved_state.h"
#include "gl/object/object.h"

#define COPIES 4

/* The size of the groups of the shader. */
#define GROUP_WIDTH  64
#define GROUP_HEIGHT 4

/* What the shader reads; the number is `kind` below. */
enum kind { COLOUR, DEPTH, STENCIL };

/*
 * `pixel`: the bytes of a pixel. Pixels of 4 bytes or more have an invocation each. Of smaller ones
 * an invocation writes a word, and the last word keeps its other bytes.
 */
static const char source[] =
    "#version 430\n"
    "layout(local_size_x = 64, local_size_y = 4) in;\n"
    "layout(binding = 0, r8ui) readonly uniform uimage2D texels1;\n"
    "layout(binding = 1, r16ui) readonly uniform uimage2D texels2;\n"
    "layout(binding = 2, r32ui) readonly uniform uimage2D texels4;\n"
    "layout(binding = 3, rg32ui) readonly uniform uimage2D texels8;\n"
    "layout(binding = 4, rgba32ui) readonly uniform uimage2D texels16;\n"
    "layout(binding = 1) uniform sampler2D depth;\n"
    "layout(binding = 2) uniform usampler2D stencil;\n"
    "layout(binding = 0, std430) buffer Staging { uint words[]; };\n"
    "layout(location = 0) uniform uvec2 size;\n"
    "layout(location = 1) uniform ivec2 origin;\n"
    "layout(location = 2) uniform uint kind;\n"
    "layout(location = 3) uniform uint pixel;\n"
    "uvec4 load(uvec2 from) {\n"
    "    ivec2 at = origin + ivec2(from);\n"
    "    if (kind == 1u)\n"
    "        return uvec4(floatBitsToUint(texelFetch(depth, at, 0).r), 0u, 0u, 0u);\n"
    "    if (kind == 2u)\n"
    "        return texelFetch(stencil, at, 0);\n"
    "    switch (pixel) {\n"
    "    case 1u: return imageLoad(texels1, at);\n"
    "    case 2u: return imageLoad(texels2, at);\n"
    "    case 4u: return imageLoad(texels4, at);\n"
    "    case 8u: return imageLoad(texels8, at);\n"
    "    default: return imageLoad(texels16, at);\n"
    "    }\n"
    "}\n"
    "void write_pixel(uvec2 at) {\n"
    "    if (any(greaterThanEqual(at, size)))\n"
    "        return;\n"
    "    uvec4 texel = load(at);\n"
    "    uint count = pixel / 4u, first = (at.y * size.x + at.x) * count;\n"
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
    "        word |= words[i] & (0xffffffffu << bits);\n"
    "    if (bits > 0u)\n"
    "        words[i] = word;\n"
    "}\n"
    "void main() {\n"
    "    uvec2 at = gl_GlobalInvocationID.xy;\n"
    "    if (pixel >= 4u)\n"
    "        write_pixel(at);\n"
    "    else\n"
    "        write_word(at.y * gl_NumWorkGroups.x * gl_WorkGroupSize.x + at.x);\n"
    "}\n";

/* A texture of the private context; `view` has the same texels as integers, and is 0 for depth. */
struct copy {
    unsigned int format, mask;
    GLsizei width, height;
    GLuint texture, view;
};

/* The OpenGL objects of a private context. */
struct objects {
    GLuint program, sampler, read, draw;
    GLint64 largest; /* the size of the largest block that a shader can write */
    struct copy copies[COPIES];
    unsigned oldest;
};

/* The arguments of one read. */
struct read {
    struct gl_private *context;
    const struct gl_attachment *a;
    GLint x, y;
    GLsizei width, height;
    unsigned int format; /* that of the copy */
    GLuint buffer, pixel;
    bool srgb; /* GL_FRAMEBUFFER_SRGB is enabled in the application's context */
};

/* ---- Objects --------------------------------------------------------------------------------- */

static void delete_copy(struct copy *copy)
{
    if (copy->view)
        glDeleteTextures(1, &copy->view);
    if (copy->texture)
        glDeleteTextures(1, &copy->texture);
    *copy = (struct copy){0};
}

/* The context deletes its framebuffers, but it shares the other objects. */
static void end_objects(void *of, bool is_current)
{
    struct objects *o = of;
    for (int i = 0; i < COPIES && is_current; i++)
        delete_copy(&o->copies[i]);
    if (is_current && o->program) {
        glDeleteProgram(o->program);
        glDeleteSamplers(1, &o->sampler);
    }
    free(o);
}

static bool make_program(struct objects *o)
{
    const char *text = source;
    GLint linked = GL_FALSE;
    o->program = glCreateShaderProgramv(GL_COMPUTE_SHADER, 1, &text);
    if (o->program)
        glGetProgramiv(o->program, GL_LINK_STATUS, &linked);
    if (linked)
        glUseProgram(o->program);
    return linked;
}

static struct objects *objects_of(struct gl_private *context)
{
    if (context->objects)
        return context->objects;
    struct objects *o = calloc(1, sizeof(*o));
    if (!o)
        return NULL;
    context->objects = o;
    context->end = end_objects;
    glGetInteger64v(GL_MAX_SHADER_STORAGE_BLOCK_SIZE, &o->largest);
    glGenFramebuffers(1, &o->read);
    glGenFramebuffers(1, &o->draw);
    glCreateSamplers(1, &o->sampler);
    glSamplerParameteri(o->sampler, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glSamplerParameteri(o->sampler, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glBindSampler(DEPTH, o->sampler);
    glBindSampler(STENCIL, o->sampler);
    if (make_program(o) && gl_errors_take() == GL_NO_ERROR)
        return o;
    gl_private_give_up(context, "OpenGL did not compile the compute shader");
    return NULL;
}

/* The image units of the shader, by the size of a pixel: 1, 2, 4, 8 and 16 bytes. */
static const GLenum integer_formats[] = {GL_R8UI, GL_R16UI, GL_R32UI, GL_RG32UI, GL_RGBA32UI};

static GLuint unit_of(const struct read *r)
{
    GLuint unit = 0;
    while (1u << unit < r->pixel)
        unit++;
    return unit;
}

static bool make_copy(struct copy *copy, const struct read *r)
{
    *copy = (struct copy){
        .format = r->format, .mask = r->a->mask, .width = r->width, .height = r->height};
    glCreateTextures(GL_TEXTURE_2D, 1, &copy->texture);
    glTextureStorage2D(copy->texture, 1, r->format, r->width, r->height);
    if (copy->mask == GL_STENCIL_BUFFER_BIT)
        glTextureParameteri(copy->texture, GL_DEPTH_STENCIL_TEXTURE_MODE, GL_STENCIL_INDEX);
    if (copy->mask == GL_COLOR_BUFFER_BIT) {
        glGenTextures(1, &copy->view);
        glTextureView(copy->view, GL_TEXTURE_2D, copy->texture, integer_formats[unit_of(r)], 0, 1,
                      0, 1);
    }
    if (gl_errors_take() == GL_NO_ERROR)
        return true;
    delete_copy(copy);
    return false;
}

/* Returns a texture that is large enough, or NULL. */
static const struct copy *copy_for(struct objects *o, const struct read *r)
{
    struct copy *copy = NULL;
    for (int i = 0; i < COPIES && !copy; i++)
        if (o->copies[i].format == r->format && o->copies[i].mask == r->a->mask)
            copy = &o->copies[i];
    if (copy && copy->width >= r->width && copy->height >= r->height)
        return copy;
    if (!copy)
        copy = &o->copies[o->oldest++ % COPIES];
    delete_copy(copy);
    return make_copy(copy, r) ? copy : NULL;
}

/* ---- The blit -------------------------------------------------------------------------------- */

static bool is_array(const struct gl_attachment *a)
{
    switch (a->target->target) {
    case GL_TEXTURE_2D_ARRAY:
    case GL_TEXTURE_3D:
    case GL_TEXTURE_2D_MULTISAMPLE_ARRAY:
        return !a->layered;
    default:
        return false;
    }
}

/* A layered attachment is read from its first layer. */
static void attach(const struct gl_attachment *a, GLenum point)
{
    if (a->target->target == GL_RENDERBUFFER)
        glFramebufferRenderbuffer(GL_READ_FRAMEBUFFER, point, GL_RENDERBUFFER, a->object);
    else if (is_array(a))
        glFramebufferTextureLayer(GL_READ_FRAMEBUFFER, point, a->object, a->level, a->layer);
    else if (a->face && !a->layered)
        glFramebufferTexture2D(GL_READ_FRAMEBUFFER, point, a->face, a->object, a->level);
    else
        glFramebufferTexture(GL_READ_FRAMEBUFFER, point, a->object, a->level);
}

/* Without samples, colours that are encoded as sRGB are copied as they are. */
static bool blit(const struct objects *o, const struct read *r, const struct copy *copy)
{
    const GLenum point = gl_attachment_point(r->a->mask, r->format);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, o->read);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, o->draw);
    attach(r->a, point);
    glFramebufferTexture(GL_DRAW_FRAMEBUFFER, point, copy->texture, 0);
    if (r->srgb && r->a->samples > 0)
        glEnable(GL_FRAMEBUFFER_SRGB);
    else
        glDisable(GL_FRAMEBUFFER_SRGB);
    const bool complete =
        glCheckFramebufferStatus(GL_READ_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE &&
        glCheckFramebufferStatus(GL_DRAW_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    if (complete)
        glBlitFramebuffer(r->x, r->y, r->x + r->width, r->y + r->height, 0, 0, r->width, r->height,
                          r->a->mask, GL_NEAREST);
    /* an attachment would keep the image alive after the application has deleted it */
    glFramebufferTexture(GL_READ_FRAMEBUFFER, point, 0, 0);
    glFramebufferTexture(GL_DRAW_FRAMEBUFFER, point, 0, 0);
    return complete;
}

/* ---- The shader ------------------------------------------------------------------------------ */

/* What the shader reads. */
struct texels {
    GLuint texture;
    GLint level, layer, x, y;
};

static GLint parameter(GLuint texture, GLenum name)
{
    GLint value = 0;
    glGetTextureParameteriv(texture, name, &value);
    return value;
}

/* Image units ignore the other parameters, but the texture must be complete. */
static bool is_readable_image(const struct gl_attachment *a)
{
    const GLint base = parameter(a->object, GL_TEXTURE_BASE_LEVEL);
    const GLint filter = parameter(a->object, GL_TEXTURE_MIN_FILTER);
    if (a->level < base || a->level > parameter(a->object, GL_TEXTURE_MAX_LEVEL))
        return false;
    return parameter(a->object, GL_TEXTURE_IMMUTABLE_FORMAT) ||
           (a->level == base && (filter == GL_NEAREST || filter == GL_LINEAR));
}

static bool is_readable_depth(const struct gl_attachment *a)
{
    return a->target->target == GL_TEXTURE_2D &&
           a->level == parameter(a->object, GL_TEXTURE_BASE_LEVEL) &&
           a->level <= parameter(a->object, GL_TEXTURE_MAX_LEVEL) &&
           parameter(a->object, GL_TEXTURE_SWIZZLE_R) == GL_RED &&
           parameter(a->object, GL_DEPTH_STENCIL_TEXTURE_MODE) == GL_DEPTH_COMPONENT;
}

/* Whether the shader can read the attachment itself. */
static bool is_readable(const struct read *r)
{
    const struct gl_attachment *a = r->a;
    const unsigned int target = a->target->target;
    if (a->samples > 0 || target == GL_RENDERBUFFER || target == GL_TEXTURE_RECTANGLE)
        return false;
    if (a->mask == GL_DEPTH_BUFFER_BIT)
        return is_readable_depth(a);
    return a->mask == GL_COLOR_BUFFER_BIT && (GLenum)a->internal == r->format &&
           r->format != GL_SRGB8_ALPHA8 && is_readable_image(a);
}

static GLint layer_of(const struct gl_attachment *a)
{
    if (a->layered)
        return 0;
    return a->face ? (GLint)(a->face - GL_TEXTURE_CUBE_MAP_POSITIVE_X) : a->layer;
}

static bool copy_texels(struct objects *o, const struct read *r, struct texels *texels)
{
    const struct copy *copy = copy_for(o, r);
    if (!copy || !blit(o, r, copy))
        return false;
    *texels = (struct texels){.texture = copy->view ? copy->view : copy->texture};
    return true;
}

static enum kind kind_of(const struct read *r)
{
    return r->a->mask == GL_DEPTH_BUFFER_BIT     ? DEPTH
           : r->a->mask == GL_STENCIL_BUFFER_BIT ? STENCIL
                                                 : COLOUR;
}

/* Binds the texels, or nothing: a binding would keep the texture alive. */
static void bind_texels(const struct read *r, const struct texels *texels, GLuint texture)
{
    const enum kind kind = kind_of(r);
    const GLuint unit = unit_of(r);
    if (kind == COLOUR)
        glBindImageTexture(unit, texture, texels->level, GL_FALSE, texels->layer, GL_READ_ONLY,
                           integer_formats[unit]);
    else
        glBindTextureUnit(kind, texture);
}

static GLuint groups(GLuint extent, GLuint of_group)
{
    return (extent + of_group - 1) / of_group;
}

static void dispatch(const struct objects *o, const struct read *r, const struct texels *texels)
{
    const GLuint width = (GLuint)r->width, height = (GLuint)r->height;
    const GLsizeiptr bytes = (GLsizeiptr)width * (GLsizeiptr)height * (GLsizeiptr)r->pixel;
    bind_texels(r, texels, texels->texture);
    glProgramUniform2ui(o->program, 0, width, height);
    glProgramUniform2i(o->program, 1, texels->x, texels->y);
    glProgramUniform1ui(o->program, 2, kind_of(r));
    glProgramUniform1ui(o->program, 3, r->pixel);
    glBindBufferRange(GL_SHADER_STORAGE_BUFFER, 0, r->buffer, 0, (bytes + 3) / 4 * 4);
    glDispatchCompute(groups(width, GROUP_WIDTH), groups(height, GROUP_HEIGHT), 1);
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, 0);
    bind_texels(r, texels, 0);
}

static bool run_read(void *of)
{
    const struct read *r = of;
    struct objects *o = objects_of(r->context);
    if (!o || (GLint64)r->width * r->height * r->pixel + 3 > o->largest)
        return false;
    struct texels texels = {r->a->object, r->a->level, layer_of(r->a), r->x, r->y};
    if (!is_readable(r) && !copy_texels(o, r, &texels))
        return false;
    dispatch(o, r, &texels);
    return true;
}

/* ---- One read -------------------------------------------------------------------------------- */

/* Depth and stencil can only be copied to the same format, which unsized formats do not tell. */
static unsigned int copy_format(const struct gl_attachment *a)
{
    static const GLenum sized[] = {
        GL_DEPTH_COMPONENT16, GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT32, GL_DEPTH_COMPONENT32F,
        GL_DEPTH24_STENCIL8,  GL_DEPTH32F_STENCIL8, GL_STENCIL_INDEX8};
    if (a->mask == GL_COLOR_BUFFER_BIT)
        return a->exact || a->samples > 0 ? a->resolved : GL_NONE;
    for (size_t i = 0; i < sizeof(sized) / sizeof(*sized); i++)
        if ((GLenum)a->internal == sized[i])
            return sized[i];
    return GL_NONE;
}

/* Mesa blits another layer of these arrays than the attached one. */
static bool is_mistaken(const struct gl_target *target)
{
    return target->target == GL_TEXTURE_1D_ARRAY || target->target == GL_TEXTURE_CUBE_MAP_ARRAY;
}

bool gl_shader_can_read(const struct gl_attachment *a)
{
    return a->target && !is_mistaken(a->target) && copy_format(a) != GL_NONE;
}

/* Whether OpenGL may write to the buffer. glReadPixels() is then refused, too. */
static bool is_writable(GLuint buffer)
{
    GLint mapped = 0, access = 0;
    glGetNamedBufferParameteriv(buffer, GL_BUFFER_MAPPED, &mapped);
    glGetNamedBufferParameteriv(buffer, GL_BUFFER_ACCESS_FLAGS, &access);
    return !mapped || access & GL_MAP_PERSISTENT_BIT;
}

gr_status gl_shader_read(struct gl_private *context, const struct gl_attachment *a,
                         const gr_framebuffer_options *rectangle, gr_resource *buffer, bool *done,
                         const char *call)
{
    struct read r = {.context = context,
                     .a = a,
                     .x = (GLint)rectangle->x,
                     .y = (GLint)rectangle->y,
                     .width = (GLsizei)rectangle->width,
                     .height = (GLsizei)rectangle->height,
                     .format = copy_format(a),
                     .buffer = gl_of(buffer)->name,
                     .pixel = a->read->channels * (GLuint)gr_channel_bytes(a->read->format),
                     .srgb = glIsEnabled(GL_FRAMEBUFFER_SRGB)};
    const uint64_t bytes = (uint64_t)r.width * (uint64_t)r.height * r.pixel;
    *done = false;
    if ((bytes + 3) / 4 * 4 > gr_resource_get_info(buffer)->size || !is_writable(r.buffer))
        return GR_OK;
    return gl_private_run(context, run_read, &r, done, call);
}
