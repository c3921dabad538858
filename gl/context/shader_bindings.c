/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "gl/context/shader_bindings.h"

#include <stddef.h>

#include <epoxy/gl.h>

static GLint indexed(GLenum what, GLuint index)
{
    GLint value = 0;
    glGetIntegeri_v(what, index, &value);
    return value;
}

/* Whether the texture, if there is one, can be bound again as a GL_TEXTURE_2D. */
static bool is_texture_2d(GLint texture)
{
    GLint target = GL_TEXTURE_2D;
    if (texture && !glIsTexture((GLuint)texture))
        return false;
    if (texture)
        glGetTextureParameteriv((GLuint)texture, GL_TEXTURE_TARGET, &target);
    return target == GL_TEXTURE_2D;
}

/* Whether the name is that of a texture of the shader. */
static bool is_own_texture(const struct gl_shader_bindings *b, GLint name)
{
    for (int i = 0; i < 2 * GL_SHADER_TEXTURES && name; i++)
        if (b->own_textures[i] == (GLuint)name)
            return true;
    return false;
}

static bool get_sampled(struct gl_shader_bindings *b)
{
    b->texture = indexed(GL_TEXTURE_BINDING_2D, b->unit);
    b->sampler = indexed(GL_SAMPLER_BINDING, b->unit);
    return is_texture_2d(b->texture) && !is_own_texture(b, b->texture) &&
           (!b->sampler ||
            (glIsSampler((GLuint)b->sampler) && (GLuint)b->sampler != b->own_sampler));
}

static bool get_image(struct gl_shader_bindings *b)
{
    b->image.name = indexed(GL_IMAGE_BINDING_NAME, b->unit);
    b->image.level = b->image.layered = b->image.layer = 0;
    b->image.access = GL_READ_ONLY;
    b->image.format = GL_R8;
    if (!b->image.name)
        return true;
    b->image.level = indexed(GL_IMAGE_BINDING_LEVEL, b->unit);
    b->image.layered = indexed(GL_IMAGE_BINDING_LAYERED, b->unit);
    b->image.layer = indexed(GL_IMAGE_BINDING_LAYER, b->unit);
    b->image.access = indexed(GL_IMAGE_BINDING_ACCESS, b->unit);
    b->image.format = indexed(GL_IMAGE_BINDING_FORMAT, b->unit);
    return glIsTexture((GLuint)b->image.name) && !is_own_texture(b, b->image.name);
}

bool gl_shader_bindings_get(struct gl_shader_bindings *b)
{
    glGetIntegerv(GL_CURRENT_PROGRAM, &b->program);
    b->buffer = indexed(GL_SHADER_STORAGE_BUFFER_BINDING, GL_SHADER_BUFFER_UNIT);
    b->start = b->size = 0;
    if (b->buffer) {
        glGetInteger64i_v(GL_SHADER_STORAGE_BUFFER_START, GL_SHADER_BUFFER_UNIT, &b->start);
        glGetInteger64i_v(GL_SHADER_STORAGE_BUFFER_SIZE, GL_SHADER_BUFFER_UNIT, &b->size);
        if (!glIsBuffer((GLuint)b->buffer) || (GLuint)b->buffer == b->own_buffer)
            return false;
    }
    return b->sampled ? get_sampled(b) : get_image(b);
}

/* These calls leave the binding of glBindBuffer() alone. */
void gl_shader_bind_buffer(unsigned int name, int64_t start, int64_t size)
{
    const GLintptr from = (GLintptr)start;
    const GLsizeiptr bytes = (GLsizeiptr)size;
    if (name && size)
        glBindBuffersRange(GL_SHADER_STORAGE_BUFFER, GL_SHADER_BUFFER_UNIT, 1, &name, &from,
                           &bytes);
    else
        glBindBuffersBase(GL_SHADER_STORAGE_BUFFER, GL_SHADER_BUFFER_UNIT, 1, &name);
}

void gl_shader_bind_texture(unsigned int unit, unsigned int texture, unsigned int sampler)
{
    GLint active = 0;
    glGetIntegerv(GL_ACTIVE_TEXTURE, &active);
    glActiveTexture(GL_TEXTURE0 + unit);
    glBindTexture(GL_TEXTURE_2D, texture);
    glActiveTexture((GLenum)active);
    glBindSampler(unit, sampler);
}

void gl_shader_bindings_set(const struct gl_shader_bindings *b)
{
    glUseProgram((GLuint)b->program);
    gl_shader_bind_buffer((GLuint)b->buffer, b->start, b->size);
    if (b->sampled)
        gl_shader_bind_texture(b->unit, (GLuint)b->texture, (GLuint)b->sampler);
    else
        glBindImageTexture(b->unit, (GLuint)b->image.name, b->image.level,
                           (GLboolean)b->image.layered, b->image.layer, (GLenum)b->image.access,
                           (GLenum)b->image.format);
}
