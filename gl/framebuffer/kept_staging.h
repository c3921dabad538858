/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The staging buffers that an OpenGL context keeps for fetches without `staging`. */
#ifndef GR_GL_FRAMEBUFFER_KEPT_STAGING_H
#define GR_GL_FRAMEBUFFER_KEPT_STAGING_H

#include "gl/context/context.h"

/*
 * Returns a read_only buffer of at least `size` bytes with frames in flight, for the OpenGL context
 * and the CUDA context that are current. It stays with the OpenGL context, which owns it, and is
 * valid until the next call of this function. NULL after an error, which is recorded.
 */
gr_resource *gl_kept_staging(const struct gl_context *context, size_t size, const char *call);

#endif
