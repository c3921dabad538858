/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The use of resources of the copy transport by the OpenGL side of a ring, without unnecessary
 * waits. Data that CUDA wrote is copied to the objects when OpenGL acquires them. Data that OpenGL
 * wrote is already in transit before CUDA acquires it.
 */
#ifndef GR_GL_COPY_RING_TURN_H
#define GR_GL_COPY_RING_TURN_H

#include "gl/copy/memory.h"

/* Operations of struct gr_backend. */
gr_status gl_copy_begin_use(gr_resource *const resources[], size_t n);
gr_status gl_copy_end_use(gr_resource *const resources[], size_t n);

#endif
