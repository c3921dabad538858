/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reads an attachment by a compute shader in a private context, much faster than glReadPixels(). */
#ifndef GR_GL_OBJECT_SHADER_READ_H
#define GR_GL_OBJECT_SHADER_READ_H

#include <grinterop/framebuffer.h>

#include "gl/object/attachment.h"

struct gl_private;

/* Whether a shader writes the bytes that glReadPixels() would write. */
bool gl_shader_can_read(const struct gl_attachment *a);

/*
 * Writes the rectangle of the options to the buffer, if *done; otherwise the buffer's contents are
 * undefined. The application's context is current. Fails only if it cannot be current again.
 */
gr_status gl_shader_read(struct gl_private *context, const struct gl_attachment *a,
                         const gr_framebuffer_options *rectangle, gr_resource *buffer, bool *done,
                         const char *call);

#endif
