/* SPDX-License-Identifier: Apache-2.0 */
/* Whether CUDA computes on another GPU than OpenGL draws on, and reaches that one's memory. */
#ifndef GR_GL_PEER_REACH_H
#define GR_GL_PEER_REACH_H

#include <grinterop/gl.h>

/*
 * Of the current CUDA context and the current OpenGL context: *drawing is the device that draws. In
 * either case the text is a sentence that says why, no longer than `size`.
 */
bool gl_peer_reaches(CUdevice *drawing, char *text, size_t size);

#endif
