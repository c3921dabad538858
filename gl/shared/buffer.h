/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of the shared transport. */
#ifndef GR_GL_SHARED_BUFFER_H
#define GR_GL_SHARED_BUFFER_H

#include <grinterop/gl.h>

/*
 * gr_gl_buffer_create() by this transport, with arguments that were checked. `packed`: in a block
 * with others, if it is small and this OpenGL can do that.
 */
gr_resource *gl_shared_buffer(size_t size, bool packed, unsigned flags, const char *call);

#endif
