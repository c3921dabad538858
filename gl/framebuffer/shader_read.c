/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The shader cannot read renderbuffers, samples, and textures whose parameters hide the attached
 * level. glBlitFramebuffer() first copies these to a texture, resolves samples, and ignores the
 * parameters of textures. On an H100 the copy of 1920 x 1080 pixels takes 165 us, the shader 12 us.
 */
#include "gl/framebuffer/shader_read.h"

#include <epoxy/gl.h>

#include "lib/cuda/array_format.h"
#include "lib/resource/resource.h"
#include "gl/context/saved_state.h"
#include "gl/object/object.h"

/* The arguments of one read. */
struct read {
    struct gl_shader *shader;
    const struct gl_attachment *a;
    GLint x, y;
    GLsizei width, height;
    unsigned int format; /* that of the copy */
    GLuint buffer, pixel;
};

/* ---- The blit -------------------------------------------------------------------------------- */

/*
 * Copies the rectangle to the texture. A layered attachment is read from its first layer. Without
 * samples, colours that are encoded as sRGB are copied as they are.
 */
static bool blit(const struct read *r, const struct gl_shader_texture *to)
{
    const GLenum point = gl_attachment_point(r->a->mask, r->format);
    GLuint name;
    GL_SAVED(before, r->a->samples == 0 ? GL_SAVE(FRAMEBUFFER_SRGB) : 0);
    gl_attachment_select(r->a, &before);
    glGenFramebuffers(1, &name);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, name);
    glFramebufferTexture(GL_DRAW_FRAMEBUFFER, point, to->name, 0);
    const bool complete = glCheckFramebufferStatus(GL_DRAW_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    if (complete)
        gl_blit(r->x, r->y, r->width, r->height, r->a->mask);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, r->a->framebuffer);
    glDeleteFramebuffers(1, &name);
    return complete;
}

/* ---- The shader ------------------------------------------------------------------------------ */

static bool is_readable_depth(const struct gl_attachment *a)
{
    return a->target->target == GL_TEXTURE_2D &&
           a->level == gl_texture_parameter(a->object, GL_TEXTURE_BASE_LEVEL) &&
           a->level <= gl_texture_parameter(a->object, GL_TEXTURE_MAX_LEVEL) &&
           gl_texture_parameter(a->object, GL_TEXTURE_SWIZZLE_R) == GL_RED &&
           gl_texture_parameter(a->object, GL_DEPTH_STENCIL_TEXTURE_MODE) == GL_DEPTH_COMPONENT;
}

/*
 * Whether the driver reports the layers of such textures. Mesa (25) reports 0 for each layer of
 * some targets, so 0 is the layer only if the driver reports another one, too.
 */
static bool is_layer_known(const struct gl_attachment *a)
{
    GLuint framebuffer;
    GLint layer = a->layer;
    if (layer > 0 || a->layered || a->face || a->target->target == GL_TEXTURE_2D)
        return true;
    glCreateFramebuffers(1, &framebuffer);
    glNamedFramebufferTextureLayer(framebuffer, GL_COLOR_ATTACHMENT0, a->object, a->level, 1);
    glGetNamedFramebufferAttachmentParameteriv(framebuffer, GL_COLOR_ATTACHMENT0,
                                               GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_LAYER, &layer);
    glDeleteFramebuffers(1, &framebuffer);
    return layer == 1;
}

/* Whether an image unit has a layer of such a texture as a 2D image. */
static bool has_2d_layers(const struct gl_target *target)
{
    switch (target->target) {
    case GL_TEXTURE_2D:
    case GL_TEXTURE_2D_ARRAY:
    case GL_TEXTURE_3D:
    case GL_TEXTURE_CUBE_MAP:
    case GL_TEXTURE_CUBE_MAP_ARRAY:
        return true;
    default:
        return false;
    }
}

/* Whether the shader can read the attachment itself. */
static bool is_readable(const struct read *r)
{
    const struct gl_attachment *a = r->a;
    if (a->samples > 0 || !has_2d_layers(a->target))
        return false;
    if (a->mask == GL_DEPTH_BUFFER_BIT)
        return is_readable_depth(a);
    return a->mask == GL_COLOR_BUFFER_BIT && (GLenum)a->internal == r->format &&
           r->format != GL_SRGB8_ALPHA8 && gl_shader_can_access(a->object, a->level) &&
           is_layer_known(a);
}

static GLint layer_of(const struct gl_attachment *a)
{
    if (a->layered)
        return 0;
    return a->face ? (GLint)(a->face - GL_TEXTURE_CUBE_MAP_POSITIVE_X) : a->layer;
}

static enum gl_texels_kind kind_of(const struct gl_attachment *a)
{
    return a->mask == GL_DEPTH_BUFFER_BIT     ? GL_TEXELS_DEPTH
           : a->mask == GL_STENCIL_BUFFER_BIT ? GL_TEXELS_STENCIL
                                              : GL_TEXELS_COLOUR;
}

static bool copy_texels(const struct read *r, const struct gl_texel_copy *copy)
{
    /* glReadPixels() would only need GL_FRAMEBUFFER_BARRIER_BIT, which the application may use */
    glMemoryBarrier(GL_SHADER_IMAGE_ACCESS_BARRIER_BIT | GL_TEXTURE_FETCH_BARRIER_BIT);
    return gl_shader_copy(r->shader, copy) && gl_errors_take() == GL_NO_ERROR;
}

/*
 * Reads the rectangle through a texture that the shader can read, in strips of the height of the
 * texture. With a multiple of 4 rows, each strip begins at a whole word of the buffer.
 */
static bool copy_strips(const struct read *r, struct gl_texel_copy *copy)
{
    const struct gl_shader_texture wanted = {.format = r->format,
                                             .mask = r->a->mask,
                                             .pixel = r->pixel,
                                             .width = r->width,
                                             .height = r->height};
    const struct gl_shader_texture *texture = gl_shader_texture(r->shader, &wanted);
    struct read strip = *r;
    bool done = texture;
    copy->level = copy->layer = copy->x = copy->y = 0;
    for (GLsizei rest = r->height; rest > 0 && done; rest -= strip.height) {
        strip.height = copy->height = rest < texture->height ? rest : texture->height;
        copy->texture = texture->view;
        done = blit(&strip, texture) && copy_texels(r, copy);
        strip.y += strip.height;
        copy->offset += (size_t)r->width * (size_t)strip.height * r->pixel;
    }
    return done;
}

static bool run(const struct read *r, size_t offset)
{
    struct gl_texel_copy copy = {.kind = kind_of(r->a),
                                 .texture = r->a->object,
                                 .level = r->a->level,
                                 .layer = layer_of(r->a),
                                 .x = r->x,
                                 .y = r->y,
                                 .width = r->width,
                                 .height = r->height,
                                 .pixel = r->pixel,
                                 .buffer = r->buffer,
                                 .offset = offset};
    return is_readable(r) ? copy_texels(r, &copy) : copy_strips(r, &copy);
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

bool gl_shader_can_read(const struct gl_attachment *a)
{
    return a->target && copy_format(a) != GL_NONE;
}

/* Whether OpenGL may write to the buffer. glReadPixels() is then refused, too. */
static bool is_writable(GLuint buffer)
{
    GLint mapped = 0, access = 0;
    glGetNamedBufferParameteriv(buffer, GL_BUFFER_MAPPED, &mapped);
    glGetNamedBufferParameteriv(buffer, GL_BUFFER_ACCESS_FLAGS, &access);
    return !mapped || access & GL_MAP_PERSISTENT_BIT;
}

bool gl_shader_read(struct gl_shader *shader, const struct gl_attachment *a,
                    const gr_framebuffer_options *rectangle, gr_resource *buffer, size_t offset)
{
    const struct read r = {.shader = shader,
                           .a = a,
                           .x = (GLint)rectangle->x,
                           .y = (GLint)rectangle->y,
                           .width = (GLsizei)rectangle->width,
                           .height = (GLsizei)rectangle->height,
                           .format = copy_format(a),
                           .buffer = gl_of(buffer)->name,
                           .pixel = a->read->channels * (GLuint)gr_channel_bytes(a->read->format)};
    const uint64_t bytes = (uint64_t)r.width * (uint64_t)r.height * r.pixel;
    return offset + (bytes + 3) / 4 * 4 <= buffer->size && is_writable(r.buffer) &&
           gl_shader_can_run(shader) && run(&r, offset);
}
