/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copies bytes between buffers, in OpenGL command order. The state of the application stays. */
#ifndef GR_GL_TEXELS_BUFFER_SHADER_H
#define GR_GL_TEXELS_BUFFER_SHADER_H

#include <stddef.h>

#include "gl/texels/texel_shader.h"

/* Creates the program that copies between buffers, so that the first copy need not. */
void gl_buffer_shader_prepare(struct gl_shader *shader);

/*
 * Copies bytes at the same offset between a buffer of the application and one of grinterop, which
 * is `own`: by the shader where it can, otherwise by a call of OpenGL. `shader` may be NULL. May
 * leave an OpenGL error; the caller has saved earlier ones. Makes writes of the copy visible, but
 * not earlier writes of shaders.
 */
void gl_buffer_copy(struct gl_shader *shader, unsigned int from, unsigned int to, unsigned int own,
                    size_t offset, size_t size);

#endif
