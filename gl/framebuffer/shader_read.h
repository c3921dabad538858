/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reads an attachment by a compute shader, much faster than glReadPixels(). */
#ifndef GR_GL_FRAMEBUFFER_SHADER_READ_H
#define GR_GL_FRAMEBUFFER_SHADER_READ_H

#include <grinterop/framebuffer.h>

#include "gl/framebuffer/attachment.h"
#include "gl/texels/texel_shader.h"

/* Whether a shader writes the bytes that glReadPixels() would write. */
bool gl_shader_can_read(const struct gl_attachment *a);

/*
 * Writes the rectangle of the options to the buffer from `offset` on, which is a multiple of 4. The
 * framebuffer is bound, and OpenGL does not render conditionally. False: the contents of the buffer
 * are undefined. May leave an OpenGL error.
 */
bool gl_shader_read(struct gl_shader *shader, const struct gl_attachment *a,
                    const gr_framebuffer_options *rectangle, gr_resource *buffer, size_t offset);

#endif
