/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks an existing OpenGL texture or renderbuffer before it becomes a resource. */
#ifndef GR_GL_OBJECT_FROM_IMAGE_H
#define GR_GL_OBJECT_FROM_IMAGE_H

#include "gl/object/object.h"

/* Like gl_buffer_object(). Accepts depth, which only the copy transport accepts. */
struct gl_resource *gl_image_object(unsigned int name, unsigned int target, unsigned flags,
                                    const char *call);

#endif
