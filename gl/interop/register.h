/* SPDX-License-Identifier: Apache-2.0 */
/* Registering an OpenGL object with CUDA. */
#ifndef GR_GL_INTEROP_REGISTER_H
#define GR_GL_INTEROP_REGISTER_H

#include "gl/object.h"

/*
 * Chooses the CUDA context, has the driver register the object, and makes the resource ready. On an
 * error, which is recorded, the memory is freed.
 */
gr_resource *gl_interop_register(struct gl_resource *r, unsigned flags, const char *call);

/*
 * The same, but where another device than CUDA's draws it writes the reason, no longer than `size`,
 * records no error and leaves `r` to another transport. After an error, and on success, the reason
 * is "".
 */
gr_resource *gl_interop_try(struct gl_resource *r, unsigned flags, char *reason, size_t size,
                            const char *call);

#endif
