/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenGL's own memory as what CUDA copies into and out of: a buffer of OpenGL's that stays mapped,
 * and whose mapping is registered with CUDA. OpenGL's GPU moves the bytes between it and the
 * object, so that no processor does. What OpenGL has done with it is told by a fence.
 */
#ifndef GR_GL_COPY_STAGING_H
#define GR_GL_COPY_STAGING_H

#include "gl/copy/memory.h"

/* Whether this OpenGL, whose context is current, has buffers that stay mapped. */
bool gl_staging_can(const struct gl_context *context);

/*
 * Whether so many bytes, with these flags, go by way of it, where it can be: not the few that CUDA
 * only writes, which the processor copies.
 */
bool gl_staging_pays(size_t size, unsigned flags);

/* How storage is made that gl_staging_make() can use as it is. */
unsigned int gl_staging_storage_flags(void);

/*
 * Makes room for the bytes of `copy`, once for each half, of which read_only has two, or turn,
 * of which write_discard has GL_COPY_TURNS, and sets its `host`; the object's own storage where
 * grinterop made that so. Where it cannot be or does not pay, copy->staging.bytes is NULL, and
 * copy->way says why. Both contexts are current.
 */
void gl_staging_make(const struct gl_resource *r, struct gl_copy *copy, unsigned flags);

/* OpenGL's buffer, and where in it the bytes of a half begin. */
unsigned int gl_staging_buffer(const struct gl_resource *r);
size_t gl_staging_offset(const struct gl_copy *copy, unsigned half);

/*
 * `size` bytes of the object, a buffer, at `offset`: into the present half at `at`, and from the
 * present turn's part. OpenGL is told to.
 */
void gl_staging_read(const struct gl_resource *r, size_t offset, size_t at, size_t size);
void gl_staging_write(const struct gl_resource *r, size_t offset, size_t at, size_t size);

/* ---- How far OpenGL is ----------------------------------------------------------------------- */

/* Marks what OpenGL was told so far as what the next wait is for. */
void gl_fence_put(struct gl_names *names);

/* The calling thread waits for that, if there is something. */
gr_status gl_fence_wait(struct gl_names *names, const gr_resource *resource, const char *call);

/* The same with the oldest mark of those that are kept. */
gr_status gl_fence_wait_oldest(struct gl_names *names, const gr_resource *resource,
                               const char *call);

/* The next gl_fence_put() keeps the mark of the last one. The oldest was waited for. */
void gl_fence_age(struct gl_names *names);

/*
 * The same with a fence of its own, which ends with the wait. NULL: OpenGL had no fence, and is
 * done when gl_fence_make() returns.
 */
struct __GLsync *gl_fence_make(void);
gr_status gl_fence_pass(struct __GLsync *fence, const gr_resource *resource, const char *call);

#endif
