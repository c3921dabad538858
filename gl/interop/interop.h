/* SPDX-License-Identifier: Apache-2.0 */
/* The interop transport: OpenGL objects shared by cuGraphics* registration. */
#ifndef GR_GL_INTEROP_INTEROP_H
#define GR_GL_INTEROP_INTEROP_H

#include "gl/object.h"

extern const struct gr_backend gl_interop;

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

/*
 * Whether the CUDA device is one of those that the current OpenGL context draws on, as the driver
 * says.
 */
bool gl_draws_on(CUdevice device);

/* Whether this refusal of the driver can come from the device, not from the object. */
bool gl_refuses_device(CUresult code);

#endif
