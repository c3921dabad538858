/* SPDX-License-Identifier: Apache-2.0 */
/* Whether CUDA computes on another GPU than OpenGL draws on, and reaches that one's memory. */
#ifndef GR_GL_PEER_REACH_H
#define GR_GL_PEER_REACH_H

#include <grinterop/gl.h>

/* A call of the driver's that failed, so that there is no answer. */
struct gl_peer_question {
    const char *call;
    CUresult result;
};

/*
 * Of the current CUDA context and the current OpenGL context: *drawing is the device that draws. In
 * either case the text is a sentence that says why, no longer than `size`. What `asked` says has
 * failed if its result is not CUDA_SUCCESS; it may be NULL.
 */
bool gl_peer_reaches(CUdevice *drawing, struct gl_peer_question *asked, char *text, size_t size);

#endif
