/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks an existing OpenGL object before it becomes a resource. */
#ifndef GR_GL_OBJECT_EXISTING_H
#define GR_GL_OBJECT_EXISTING_H

#include "gl/object/object.h"

/*
 * Check the arguments and the object. Return a struct without a transport; NULL after an error. The
 * caller makes it a resource or calls free(). Depth is accepted, though only the copy transport
 * accepts it.
 */
struct gl_resource *gl_buffer_object(unsigned int name, unsigned flags, const char *call);
struct gl_resource *gl_image_object(unsigned int name, unsigned int target, unsigned flags,
                                    const char *call);

#endif
