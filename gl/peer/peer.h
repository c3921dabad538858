/* SPDX-License-Identifier: Apache-2.0 */
/* The peer transport: memory on CUDA's GPU, copied from and to OpenGL's buffer on another. */
#ifndef GR_GL_PEER_PEER_H
#define GR_GL_PEER_PEER_H

#include <grinterop/gl.h>

#include "lib/retire.h"
#include "gl/object.h"
#include "gl/peer/drawing.h"

extern const struct gr_backend gl_peer;

/* What a resource has on the GPU that computes. */
struct gl_peer {
    struct gr_retired retired;  /* where a stream still works with it when the resource is closed */
    CUdeviceptr ptr;            /* what maps give */
    CUevent done;               /* the stream is through with the last mapping */
    struct gl_drawing *drawing; /* the same buffer on the other GPU */
};

/* Ends all of it but the event and the other GPU's side; without the CUDA context it only frees. */
void gl_peer_end(struct gr_retired *retired, bool alive);

/* Makes the object a resource of this transport. NULL after an error: `r` is the caller's still. */
gr_resource *gl_peer_make(struct gl_resource *r, unsigned flags, const char *call);

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
