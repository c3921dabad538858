/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Chooses the transport for a resource of an existing OpenGL object. */
#ifndef GR_GL_OBJECT_CHOOSE_TRANSPORT_H
#define GR_GL_OBJECT_CHOOSE_TRANSPORT_H

#include <grinterop/gl.h>

/*
 * Returns those of the `possible` transports that the options allow. `otherwise` is the default if
 * the options name no transport. If none is left, records an error and returns 0.
 */
unsigned gl_transports_select(const gr_gl_options *options, unsigned possible, unsigned otherwise,
                              const char *call);

#endif
