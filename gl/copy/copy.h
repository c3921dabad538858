/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The copy transport: copies between an OpenGL object and CUDA memory through pinned host memory.
 */
#ifndef GR_GL_COPY_COPY_H
#define GR_GL_COPY_COPY_H

#include <grinterop/gl.h>

#include "gl/object.h"

extern const struct gr_backend gl_copy;

/*
 * Makes the object a resource of the copy transport. After an error returns NULL, and the caller
 * keeps `r`.
 */
gr_resource *gl_copy_make(struct gl_resource *r, unsigned flags, const char *call);

#endif
