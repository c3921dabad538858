/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The copy transport: an OpenGL object and memory of CUDA's, with pinned host memory between them.
 */
#ifndef GR_GL_COPY_COPY_H
#define GR_GL_COPY_COPY_H

#include <grinterop/gl.h>

extern const struct gr_backend gl_copy;

#endif
