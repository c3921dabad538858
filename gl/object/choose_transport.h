/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Chooses the transport for a resource of an existing OpenGL object. */
#ifndef GR_GL_OBJECT_CHOOSE_TRANSPORT_H
#define GR_GL_OBJECT_CHOOSE_TRANSPORT_H

#include <grinterop/gl.h>

#include "gl/context/deferred_unregistration.h"

/*
 * Returns those of the `possible` transports that the options allow. `otherwise` is the default if
 * the options name no transport. If none is left, records an error and returns 0.
 */
unsigned gl_transports_select(const gr_gl_options *options, unsigned possible, unsigned otherwise,
                              const char *call);

/*
 * Like gr_from_gl_buffer() and gr_from_gl_image() with the copy transport, for objects that
 * grinterop created. The resource then owns the objects. After an error, which is recorded under
 * `call`, returns NULL, and the caller keeps the objects.
 */
gr_resource *gl_copy_buffer(struct gl_names *made, unsigned flags, const char *call);
gr_resource *gl_copy_image(struct gl_names *made, unsigned int target, unsigned flags,
                           const char *call);

#endif
