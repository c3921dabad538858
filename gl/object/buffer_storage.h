/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Queries of OpenGL buffers that preserve OpenGL bindings and errors. `direct` says whether the
 * context has direct state access. A context with OpenGL 3.2 or newer is current.
 */
#ifndef GR_GL_OBJECT_BUFFER_STORAGE_H
#define GR_GL_OBJECT_BUFFER_STORAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "gl/context/current_context.h"

/* Returns the size of an existing buffer's storage in bytes; 0 if the buffer has no storage. */
size_t gl_buffer_storage(unsigned int name, bool direct);

/* Whether glBufferStorage allocated the storage, so that it cannot be replaced. */
bool gl_buffer_is_immutable(unsigned int name, const struct gl_context *context);

#endif
