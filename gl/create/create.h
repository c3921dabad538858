/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The choice of the transport for created and existing OpenGL objects. */
#ifndef GR_GL_CREATE_CREATE_H
#define GR_GL_CREATE_CREATE_H

#include <grinterop/gl.h>

/*
 * Returns those of the `possible` transports that the options allow. `otherwise` is the default if
 * the options name no transport. If none is left, records an error and returns 0.
 */
unsigned gl_transports_select(const gr_gl_options *options, unsigned possible, unsigned otherwise,
                              const char *call);

#endif
