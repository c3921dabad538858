/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks an existing OpenGL buffer before it becomes a resource. */
#ifndef GR_GL_OBJECT_FROM_BUFFER_H
#define GR_GL_OBJECT_FROM_BUFFER_H

#include "gl/object/object.h"

/*
 * Checks the arguments and the object. Returns a struct without a transport; NULL after an error.
 * The caller makes it a resource or calls free().
 */
struct gl_resource *gl_buffer_object(unsigned int name, unsigned flags, const char *call);

#endif
