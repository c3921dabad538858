/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "gl/context/shader_bindings.h"

#include <stddef.h>
#include <string.h>

#include <epoxy/gl.h>

static GLint indexed(GLenum what, GLuint index)
{
    GLint value = 0;
    glGetIntegeri_v(what, index, &value);
    return value;
}

static GLenum target_of(const struct gl_shader_bindings *b)
{
    return b->is_multisample ? GL_TEXTURE_2D_MULTISAMPLE : GL_TEXTURE_2D;
}

/* Whether the texture, if there is one, can be bound again. */
static bool has_target(GLint texture, GLenum wanted)
{
    GLint target = texture ? 0 : (GLint)wanted;
    if (texture && glIsTexture((GLuint)texture))
        glGetTextureParameteriv((GLuint)texture, GL_TEXTURE_TARGET, &target);
    return (GLenum)target == wanted;
}

/* Whether the name is that of a texture of the shader. */
static bool is_own_texture(const struct gl_shader_bindings *ours, GLint name)
{
    for (int i = 0; i < 2 * GL_SHADER_TEXTURES && name; i++)
        if (ours->own_textures[i] == (GLuint)name)
            return true;
    return false;
}

/* Whether the name is that of a staging buffer, which the application did not bind. */
static bool is_staging(GLuint name)
{
    char label[sizeof(GL_STAGING_LABEL) + 1] = "";
    glGetObjectLabel(GL_BUFFER, name, sizeof(label), NULL, label);
    return strcmp(label, GL_STAGING_LABEL) == 0;
}

static unsigned count_buffers(const struct gl_shader_bindings *b)
{
    return b->uses == GL_SHADER_BUFFER ? 2 : 1;
}

static bool get_buffer(struct gl_shader_bindings *b, unsigned i,
                       const struct gl_shader_bindings *ours)
{
    const GLuint unit = GL_SHADER_BUFFER_UNIT - i;
    const GLint name = indexed(GL_SHADER_STORAGE_BUFFER_BINDING, unit);
    b->buffers[i].name = name;
    if (!name)
        return true;
    glGetInteger64i_v(GL_SHADER_STORAGE_BUFFER_START, unit, &b->buffers[i].start);
    glGetInteger64i_v(GL_SHADER_STORAGE_BUFFER_SIZE, unit, &b->buffers[i].size);
    return glIsBuffer((GLuint)name) && name != ours->own_buffer && !is_staging((GLuint)name);
}

static bool get_sampler(struct gl_shader_bindings *b, const struct gl_shader_bindings *ours)
{
    b->texture = indexed(
        b->is_multisample ? GL_TEXTURE_BINDING_2D_MULTISAMPLE : GL_TEXTURE_BINDING_2D, b->unit);
    b->sampler = indexed(GL_SAMPLER_BINDING, b->unit);
    return has_target(b->texture, target_of(b)) && !is_own_texture(ours, b->texture) &&
           (!b->sampler || (glIsSampler((GLuint)b->sampler) && b->sampler != ours->sampler));
}

static bool get_image(struct gl_shader_bindings *b, const struct gl_shader_bindings *ours)
{
    const GLuint unit = b->unit;
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

bool gl_shader_bindings_get(struct gl_shader_bindings *b, const struct gl_shader_bindings *ours)
{
    *b = (struct gl_shader_bindings){.uses = ours->uses,
                                     .unit = ours->unit,
                                     .is_multisample = ours->is_multisample,
                                     .program = ours->program_before};
    for (unsigned i = 0; i < count_buffers(b); i++)
        if (!get_buffer(b, i, ours))
            return false;
    return b->uses == GL_SHADER_SAMPLER ? get_sampler(b, ours)
           : b->uses == GL_SHADER_IMAGE ? get_image(b, ours)
                                        : true;
}

/* These calls leave the binding of glBindBuffer() alone. */
static void bind_buffer(const struct gl_shader_bindings *b, unsigned i)
{
    const GLuint unit = GL_SHADER_BUFFER_UNIT - i, name = (GLuint)b->buffers[i].name;
    const GLintptr start = (GLintptr)b->buffers[i].start;
    const GLsizeiptr size = (GLsizeiptr)b->buffers[i].size;
    if (name && size)
        glBindBuffersRange(GL_SHADER_STORAGE_BUFFER, unit, 1, &name, &start, &size);
    else
        glBindBuffersBase(GL_SHADER_STORAGE_BUFFER, unit, 1, &name);
}

void gl_shader_bindings_set(const struct gl_shader_bindings *b)
{
    GLint active = 0;
    glUseProgram((GLuint)b->program);
    for (unsigned i = 0; i < count_buffers(b); i++)
        bind_buffer(b, i);
    if (b->uses == GL_SHADER_SAMPLER) {
        glGetIntegerv(GL_ACTIVE_TEXTURE, &active);
        glActiveTexture(GL_TEXTURE0 + b->unit);
        glBindTexture(target_of(b), (GLuint)b->texture);
        glActiveTexture((GLenum)active);
        glBindSampler(b->unit, (GLuint)b->sampler);
    }
    if (b->uses == GL_SHADER_IMAGE)
        glBindImageTexture(b->unit, (GLuint)b->image.name, b->image.level,
                           (GLboolean)b->image.layered, b->image.layer, (GLenum)b->image.access,
                           (GLenum)b->image.format);
}
