/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The bindings of the application that the shader of gl/texels changes and restores. */
#ifndef GR_GL_CONTEXT_SHADER_BINDINGS_H
#define GR_GL_CONTEXT_SHADER_BINDINGS_H

#include <stdbool.h>
#include <stdint.h>

/* The binding of the buffer. OpenGL 4.5 has at least 8. */
#define GL_SHADER_BUFFER_UNIT 7

/* The textures of grinterop that the shader reads; each has two names. */
#define GL_SHADER_TEXTURES 4

struct gl_shader_bindings {
    /* Set before the others are saved: the unit of a sampled texture or an image, and own names. */
    bool sampled;
    unsigned int unit, own_buffer, own_sampler, own_textures[2 * GL_SHADER_TEXTURES];

    int program, texture, sampler, buffer;
    int64_t start, size; /* of the buffer; a size of 0 is the whole buffer */
    struct {
        int name, level, layered, layer, access, format;
    } image;
};

/*
 * Saves the bindings. False if one could not be restored, because another context of the share
 * group has deleted the object. An object of grinterop may have got the name since, as on NVIDIA's
 * driver.
 */
bool gl_shader_bindings_get(struct gl_shader_bindings *bindings);
void gl_shader_bindings_set(const struct gl_shader_bindings *bindings);

/* Binds a part of a buffer for the shader; all of it if the size is 0. */
void gl_shader_bind_buffer(unsigned int name, int64_t start, int64_t size);

/* Binds a GL_TEXTURE_2D. */
void gl_shader_bind_texture(unsigned int unit, unsigned int texture, unsigned int sampler);

#endif
