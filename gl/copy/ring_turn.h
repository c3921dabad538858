/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Ring turns with resources of the copy transport, without unnecessary waits. Data that CUDA wrote
 * is copied to the objects when OpenGL acquires them. Data that OpenGL wrote is already in transit
 * before CUDA acquires it.
 */
#ifndef GR_GL_COPY_RING_TURN_H
#define GR_GL_COPY_RING_TURN_H

#include "gl/copy/memory.h"

/* See struct gr_backend. */
gr_status gl_copy_begin_use(gr_resource *const resources[], size_t n);
gr_status gl_copy_end_use(gr_resource *const resources[], size_t n);

#endif
