/* SPDX-License-Identifier: Apache-2.0 */
/* OpenGL textures and renderbuffers that exist, on their way to become resources. */
#ifndef GR_GL_FROM_IMAGE_H
#define GR_GL_FROM_IMAGE_H

#include "gl/object.h"

/* As gl_buffer_object(). */
struct gl_resource *gl_image_object(unsigned int name, unsigned int target, unsigned flags,
                                    const char *call);

#endif
