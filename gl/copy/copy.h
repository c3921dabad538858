/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The copy transport: copies between an OpenGL object and CUDA memory through pinned host memory.
 */
#ifndef GR_GL_COPY_COPY_H
#define GR_GL_COPY_COPY_H

#include <grinterop/gl.h>

#include "lib/cuda/end_after_event.h"
#include "gl/object/object.h"

extern const struct gr_backend gl_copy;

/* The peer transport for images: the bytes pass through memory of the GPU that draws. */
extern const struct gr_backend gl_peer_image;

extern const struct gl_maker gl_copy_maker;

/* The operation of struct gl_maker for gl_peer_image. */
gr_status gl_peer_image_make_side(struct gl_resource *r, unsigned flags, void **handle,
                                  const char *call);

/*
 * Frees everything except the event `done`. Without the CUDA context (`alive` is false) frees only
 * OpenGL objects and memory.
 */
void gl_copy_end(struct gr_ending *ending, bool alive);

#endif
