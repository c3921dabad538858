/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Registers OpenGL objects with CUDA. */
#ifndef GR_GL_INTEROP_REGISTER_H
#define GR_GL_INTEROP_REGISTER_H

#include "gl/object/object.h"

/*
 * Chooses the CUDA context, registers the object and initialises the resource. After an error,
 * which is recorded, frees `r`. But if `reason` is not NULL and OpenGL does not draw on the CUDA
 * device, writes the reason (at most `size` bytes), records no error, and leaves `r` to another
 * transport. In all other cases the reason is "".
 */
gr_resource *gl_interop_register(struct gl_resource *r, unsigned flags, char *reason, size_t size,
                                 const char *call);

#endif
