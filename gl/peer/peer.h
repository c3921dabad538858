/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The peer transport: memory on the GPU that computes, which is copied to and from the OpenGL
 * buffer on another GPU. Images are copied by gl/copy, through memory of the GPU that draws.
 */
#ifndef GR_GL_PEER_PEER_H
#define GR_GL_PEER_PEER_H

#include <cuda.h>
#include <grinterop/gl.h>

#include "lib/cuda/end_after_event.h"
#include "gl/object/object.h"
#include "gl/peer/drawing.h"

extern const struct gr_backend gl_peer;
extern const struct gl_maker gl_peer_maker;

/* The objects of a resource on the GPU that computes. */
struct gl_peer {
    struct gr_ending ending;    /* allows closing a resource while a stream still uses it */
    CUdeviceptr ptr;            /* the address that maps return */
    struct gl_drawing *drawing; /* the OpenGL buffer on the GPU that draws */
};

/*
 * Frees everything except the event and the drawing. Without the CUDA context (`alive` is false)
 * only frees the struct.
 */
void gl_peer_end(struct gr_ending *ending, bool alive);

/* A driver call that failed, which leaves a query without an answer. */
struct gl_peer_query {
    const char *call;
    CUresult result;
};

/*
 * Whether the current CUDA context can access the device that the current OpenGL context draws on,
 * if these are two devices. Sets *drawing to the device that draws. `text` receives a sentence with
 * the reason for the result, at most `size` bytes. If a query failed, `asked` receives the call and
 * its result; `asked` may be NULL.
 */
bool gl_peer_reaches(CUdevice *drawing, struct gl_peer_query *asked, char *text, size_t size);

#endif
