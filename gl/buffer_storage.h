/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about OpenGL objects that leave OpenGL's bindings and errors as they are; `direct` says
 * whether the context can be asked by name. OpenGL 3.2 or newer is current.
 */
#ifndef GR_GL_BUFFER_STORAGE_H
#define GR_GL_BUFFER_STORAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "gl/current_context.h"

/* The size in bytes of an existing buffer's storage; 0 if it has none. */
size_t gl_buffer_storage(unsigned int name, bool direct);

/* Whether that storage was made by glBufferStorage, so that the buffer keeps it for life. */
bool gl_buffer_is_immutable(unsigned int name, const struct gl_context *context);

#endif
