/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The turns of a ring's two sides with resources of the copy transport, so that neither side waits
 * where it need not: what CUDA wrote goes into the objects when OpenGL takes them, and what OpenGL
 * wrote is on its way before CUDA takes them.
 */
#ifndef GR_GL_COPY_RING_TURN_H
#define GR_GL_COPY_RING_TURN_H

#include "gl/copy/memory.h"

/* Both as in struct gr_backend. */
gr_status gl_copy_begin_use(gr_resource *const resources[], size_t n);
gr_status gl_copy_end_use(gr_resource *const resources[], size_t n);

#endif
