/* SPDX-License-Identifier: Apache-2.0 */
/* What a resource of the peer transport has on the GPU that computes. */
#ifndef GR_GL_PEER_MEMORY_H
#define GR_GL_PEER_MEMORY_H

#include "lib/retire.h"
#include "gl/peer/drawing.h"

struct gl_peer {
    struct gr_retired retired;  /* where a stream still works with it when the resource is closed */
    CUdeviceptr ptr;            /* what maps give */
    CUevent done;               /* the stream is through with the last mapping */
    struct gl_drawing *drawing; /* the same buffer on the other GPU */
};

/* Ends all of it but the event and the other GPU's side; without the CUDA context it only frees. */
void gl_peer_end(struct gr_retired *retired, bool alive);

#endif
