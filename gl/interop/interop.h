/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The interop transport: registers OpenGL objects by cuGraphics* calls. */
#ifndef GR_GL_INTEROP_INTEROP_H
#define GR_GL_INTEROP_INTEROP_H

#include "gl/object/object.h"

extern const struct gr_backend gl_interop;
extern const struct gl_maker gl_interop_maker;

/* Makes `r` a resource. NULL if `r` is NULL or after an error, which is recorded; frees `r` then.
 */
gr_resource *gl_interop_register(struct gl_resource *r, unsigned flags);

#endif
