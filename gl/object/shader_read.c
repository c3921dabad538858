/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The private context copies the rectangle of the attachment to a texture of its own by
 * glBlitFramebuffer(), which resolves samples and ignores the parameters of the application's
 * textures. A compute shader then writes the texels to the buffer. It reads them as integers of the
 * same size, so that all formats but depth keep their bits.
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

/*
 * `size`: the width and height of the picture, and the bytes of a pixel, or 0 for depth. Pixels of
 * 4 bytes or more have an invocation each. Of smaller ones an invocation writes a word, and the
 * last word keeps its other bytes.
 */
static const char source[] =
    "#version 430\n"
    "layout(local_size_x = 64, local_size_y = 4) in;\n"
    "layout(binding = 0) uniform usampler2D texels;\n"
    "layout(binding = 1) uniform sampler2D depth;\n"
    "layout(binding = 0, std430) buffer Staging { uint words[]; };\n"
    "layout(location = 0) uniform uvec3 size;\n"
    "void write_pixel(uvec2 at) {\n"
    "    uint i = at.y * size.x + at.x;\n"
    "    if (any(greaterThanEqual(at, size.xy)))\n"
    "        return;\n"
    "    if (size.z == 0u) {\n"
    "        words[i] = floatBitsToUint(texelFetch(depth, ivec2(at), 0).r);\n"
    "        return;\n"
    "    }\n"
    "    uvec4 texel = texelFetch(texels, ivec2(at), 0);\n"
    "    if (size.z == 4u)\n"
    "        words[i] = texel.x;\n"
    "    else\n"
    "        for (uint k = 0u; k < size.z / 4u; k++)\n"
    "            words[i * (size.z / 4u) + k] = texel[k];\n"
    "}\n"
    "void write_word(uint i) {\n"
    "    uint word = 0u, bits = 0u, pixel = i * (4u / size.z);\n"
    "    for (; pixel < size.x * size.y && bits < 32u; pixel++) {\n"
    "        ivec2 at = ivec2(pixel % size.x, pixel / size.x);\n"
    "        word |= texelFetch(texels, at, 0).r << bits;\n"
    "        bits += 8u * size.z;\n"
    "    }\n"
    "    if (bits > 0u && bits < 32u)\n"
    "        word |= words[i] & (0xffffffffu << bits);\n"
    "    if (bits > 0u)\n"
    "        words[i] = word;\n"
    "}\n"
    "void main() {\n"
    "    uvec2 at = gl_GlobalInvocationID.xy;\n"
    "    if (size.z == 0u || size.z >= 4u)\n"
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
    GLuint program, read, draw;
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
    if (is_current && o->program)
        glDeleteProgram(o->program);
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
    if (make_program(o) && gl_errors_take() == GL_NO_ERROR)
        return o;
    gl_private_give_up(context, "OpenGL did not compile the compute shader");
    return NULL;
}

/* Returns the format of integers of a size, as which any texel of that size can be read. */
static GLenum integers_of(GLuint size)
{
    return size == 1   ? GL_R8UI
           : size == 2 ? GL_R16UI
           : size == 4 ? GL_R32UI
           : size == 8 ? GL_RG32UI
                       : GL_RGBA32UI;
}

static void set_sampling(GLuint texture)
{
    glTextureParameteri(texture, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTextureParameteri(texture, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
}

static bool make_copy(struct copy *copy, const struct read *r)
{
    *copy = (struct copy){
        .format = r->format, .mask = r->a->mask, .width = r->width, .height = r->height};
    glCreateTextures(GL_TEXTURE_2D, 1, &copy->texture);
    glTextureStorage2D(copy->texture, 1, r->format, r->width, r->height);
    set_sampling(copy->texture);
    if (copy->mask == GL_STENCIL_BUFFER_BIT)
        glTextureParameteri(copy->texture, GL_DEPTH_STENCIL_TEXTURE_MODE, GL_STENCIL_INDEX);
    if (copy->mask == GL_COLOR_BUFFER_BIT) {
        glGenTextures(1, &copy->view);
        glTextureView(copy->view, GL_TEXTURE_2D, copy->texture, integers_of(r->pixel), 0, 1, 0, 1);
        set_sampling(copy->view);
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

static GLuint groups(GLuint extent, GLuint of_group)
{
    return (extent + of_group - 1) / of_group;
}

static void dispatch(const struct objects *o, const struct read *r, const struct copy *copy)
{
    const bool depth = copy->mask == GL_DEPTH_BUFFER_BIT;
    const GLuint width = (GLuint)r->width, height = (GLuint)r->height;
    const GLsizeiptr bytes = (GLsizeiptr)width * (GLsizeiptr)height * (GLsizeiptr)r->pixel;
    glBindTextureUnit(depth, copy->view ? copy->view : copy->texture);
    glProgramUniform3ui(o->program, 0, width, height, depth ? 0 : r->pixel);
    glBindBufferRange(GL_SHADER_STORAGE_BUFFER, 0, r->buffer, 0, (bytes + 3) / 4 * 4);
    glDispatchCompute(groups(width, GROUP_WIDTH), groups(height, GROUP_HEIGHT), 1);
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, 0);
}

static bool run_read(void *of)
{
    const struct read *r = of;
    struct objects *o = objects_of(r->context);
    if (!o || (GLint64)r->width * r->height * r->pixel + 3 > o->largest)
        return false;
    const struct copy *copy = copy_for(o, r);
    if (!copy || !blit(o, r, copy))
        return false;
    dispatch(o, r, copy);
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
