/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The peer transport: memory on the CUDA GPU, copied to and from the OpenGL buffer on another GPU.
 */
#ifndef GR_GL_PEER_PEER_H
#define GR_GL_PEER_PEER_H

#include <cuda.h>
#include <grinterop/gl.h>

#include "lib/retire.h"
#include "gl/object.h"
#include "gl/peer/drawing.h"

extern const struct gr_backend gl_peer;

/* The resource's objects on the GPU that computes. */
struct gl_peer {
    struct gr_retired
        retired;     /* used if a stream still works with it when the resource is closed */
    CUdeviceptr ptr; /* the address that maps return */
    CUevent done;    /* recorded after the last mapping's work */
    struct gl_drawing *drawing; /* the same buffer on the other GPU */
};

/*
 * Frees everything but the event and the other GPU's side. Without the CUDA context (`alive` is
 * false) it only frees the struct.
 */
void gl_peer_end(struct gr_retired *retired, bool alive);

/* Makes the object a resource of this transport. NULL after an error; then the caller keeps `r`. */
gr_resource *gl_peer_make(struct gl_resource *r, unsigned flags, const char *call);

/* A driver call that failed and left the question open. */
struct gl_peer_query {
    const char *call;
    CUresult result;
};

/*
 * Checks the current CUDA context against the current OpenGL context, and sets *drawing to the
 * device that draws. Writes a sentence with the reason in either case, at most `size` bytes. If a
 * query failed, `asked` receives the call and its result; it may be NULL.
 */
bool gl_peer_reaches(CUdevice *drawing, struct gl_peer_query *asked, char *text, size_t size);

#endif
