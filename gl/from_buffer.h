/* SPDX-License-Identifier: Apache-2.0 */
/* OpenGL buffers that exist, on their way to become resources. */
#ifndef GR_GL_FROM_BUFFER_H
#define GR_GL_FROM_BUFFER_H

#include "gl/object.h"

/*
 * The object as a resource of no transport yet, once the arguments and the object were checked
 *; NULL after an error. It is free()d, or made a resource.
 */
struct gl_resource *gl_buffer_object(unsigned int name, unsigned flags, const char *call);

#endif
