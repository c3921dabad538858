/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Registers OpenGL objects with CUDA. */
#ifndef GR_GL_INTEROP_REGISTER_H
#define GR_GL_INTEROP_REGISTER_H

#include "gl/object/object.h"

extern const struct gl_maker gl_interop_maker;

/* Makes `r` a resource. NULL if `r` is NULL, or after an error, which is recorded; frees `r` then.
 */
gr_resource *gl_interop_register(struct gl_resource *r, unsigned flags, const char *call);

#endif
