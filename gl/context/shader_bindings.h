/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The bindings of the application that the shader of gl/texels changes and restores. */
#ifndef GR_GL_CONTEXT_SHADER_BINDINGS_H
#define GR_GL_CONTEXT_SHADER_BINDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "gl/context/context.h"

/* The bindings of the buffers: the first one, and the unit before it. OpenGL 4.5 has at least 8. */
#define GL_SHADER_BUFFER_UNIT 7
#define GL_SHADER_BUFFERS     2

/* The label of buffers of grinterop that the application never binds itself. */
#define GL_STAGING_LABEL GL_LABEL_PREFIX "staging buffer"

/* The textures of grinterop that the shader reads; each has two names. */
#define GL_SHADER_TEXTURES 4

/* What a shader accesses besides the first buffer. */
enum gl_shader_uses { GL_SHADER_IMAGE, GL_SHADER_SAMPLER, GL_SHADER_BUFFER };

struct gl_shader_bindings {
    enum gl_shader_uses uses;
    unsigned int unit;   /* of the texture or image */
    bool is_multisample; /* the sampler's texture: GL_TEXTURE_2D_MULTISAMPLE, or GL_TEXTURE_2D */
    int program, texture, sampler;
    struct {
        int name;
        int64_t start, size; /* a size of 0 is the whole buffer */
    } buffers[GL_SHADER_BUFFERS];
    struct {
        int name, level, layered, layer, access, format;
    } image;
    /* the current program of the application, and the objects of grinterop; unused in saved ones */
    int program_before;
    int own_buffer;
    unsigned int own_textures[2 * GL_SHADER_TEXTURES];
};

/*
 * Saves the bindings that `ours` will replace. False if one could not be restored, because another
 * context of the share group has deleted the object. An object of grinterop may have got the name
 * since, as on NVIDIA's driver.
 */
bool gl_shader_bindings_get(struct gl_shader_bindings *b, const struct gl_shader_bindings *ours);
void gl_shader_bindings_set(const struct gl_shader_bindings *b);

#endif
