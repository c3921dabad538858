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
    bool sampled;      /* a texture is sampled, otherwise it is an image */
    unsigned int unit; /* of the texture or image */
    int program, texture, sampler, buffer;
    int64_t start, size; /* of the buffer; a size of 0 is the whole buffer */
    struct {
        int name, level, layered, layer, access, format;
    } image;
    unsigned int own_textures[2 * GL_SHADER_TEXTURES]; /* of grinterop; unused in saved bindings */
};

/*
 * Saves the bindings that `ours` will replace. False if one could not be restored, because another
 * context of the share group has deleted the object. An object of grinterop may have got the name
 * since, as on NVIDIA's driver.
 */
bool gl_shader_bindings_get(struct gl_shader_bindings *b, const struct gl_shader_bindings *ours);
void gl_shader_bindings_set(const struct gl_shader_bindings *b);

#endif
