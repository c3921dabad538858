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
    GLint target = texture ? 0 : GL_TEXTURE_2D;
    if (texture && glIsTexture((GLuint)texture))
        glGetTextureParameteriv((GLuint)texture, GL_TEXTURE_TARGET, &target);
    return target == GL_TEXTURE_2D;
}

/* Whether the name is that of a texture of the shader. */
static bool is_own_texture(const struct gl_shader_bindings *ours, GLint name)
{
    for (int i = 0; i < 2 * GL_SHADER_TEXTURES && name; i++)
        if (ours->own_textures[i] == (GLuint)name)
            return true;
    return false;
}

bool gl_shader_bindings_get(struct gl_shader_bindings *b, const struct gl_shader_bindings *ours)
{
    const GLuint unit = ours->unit;
    *b = (struct gl_shader_bindings){.sampled = ours->sampled, .unit = unit};
    glGetIntegerv(GL_CURRENT_PROGRAM, &b->program);
    b->buffer = indexed(GL_SHADER_STORAGE_BUFFER_BINDING, GL_SHADER_BUFFER_UNIT);
    if (b->buffer) {
        glGetInteger64i_v(GL_SHADER_STORAGE_BUFFER_START, GL_SHADER_BUFFER_UNIT, &b->start);
        glGetInteger64i_v(GL_SHADER_STORAGE_BUFFER_SIZE, GL_SHADER_BUFFER_UNIT, &b->size);
        if (!glIsBuffer((GLuint)b->buffer) || b->buffer == ours->buffer)
            return false;
    }
    if (b->sampled) {
        b->texture = indexed(GL_TEXTURE_BINDING_2D, unit);
        b->sampler = indexed(GL_SAMPLER_BINDING, unit);
        return is_texture_2d(b->texture) && !is_own_texture(ours, b->texture) &&
               (!b->sampler || (glIsSampler((GLuint)b->sampler) && b->sampler != ours->sampler));
    }
    b->image.name = indexed(GL_IMAGE_BINDING_NAME, unit);
    b->image.access = GL_READ_ONLY;
    b->image.format = GL_R8;
    if (!b->image.name)
        return true;
    b->image.level = indexed(GL_IMAGE_BINDING_LEVEL, unit);
    b->image.layered = indexed(GL_IMAGE_BINDING_LAYERED, unit);
    b->image.layer = indexed(GL_IMAGE_BINDING_LAYER, unit);
    b->image.access = indexed(GL_IMAGE_BINDING_ACCESS, unit);
    b->image.format = indexed(GL_IMAGE_BINDING_FORMAT, unit);
    return glIsTexture((GLuint)b->image.name) && !is_own_texture(ours, b->image.name);
}

/* These calls leave the binding of glBindBuffer() alone. */
static void bind_buffer(GLuint name, GLintptr start, GLsizeiptr size)
{
    if (name && size)
        glBindBuffersRange(GL_SHADER_STORAGE_BUFFER, GL_SHADER_BUFFER_UNIT, 1, &name, &start,
                           &size);
    else
        glBindBuffersBase(GL_SHADER_STORAGE_BUFFER, GL_SHADER_BUFFER_UNIT, 1, &name);
}

static void bind_texture(GLuint unit, GLuint texture, GLuint sampler)
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
    bind_buffer((GLuint)b->buffer, (GLintptr)b->start, (GLsizeiptr)b->size);
    if (b->sampled)
        bind_texture(b->unit, (GLuint)b->texture, (GLuint)b->sampler);
    else
        glBindImageTexture(b->unit, (GLuint)b->image.name, b->image.level,
                           (GLboolean)b->image.layered, b->image.layer, (GLenum)b->image.access,
                           (GLenum)b->image.format);
}
