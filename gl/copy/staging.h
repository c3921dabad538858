/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Staging memory that is an OpenGL buffer: a persistently mapped one whose mapping is registered
 * with CUDA, or one that both APIs share on the GPU that draws. The GPU copies between this buffer
 * and the object, so the CPU copies nothing. Fences report the progress of OpenGL.
 */
#ifndef GR_GL_COPY_STAGING_H
#define GR_GL_COPY_STAGING_H

#include "gl/copy/memory.h"

/* Whether the current OpenGL context supports persistently mapped buffers. */
bool gl_staging_supported(const struct gl_context *context);

/* Returns the storage flags that let gl_staging_make() use a buffer directly. */
unsigned int gl_staging_storage_flags(void);

/*
 * Allocates staging memory for `copy` and sets its `host`. For read_only resources the memory has
 * two halves, for write_discard GL_COPY_TURNS parts. Uses the object's own storage if grinterop
 * allocated the storage for this purpose. If staging is not possible or not faster,
 * copy->staging.bytes is NULL and copy->way contains the reason. Both contexts are current.
 */
void gl_staging_make(const struct gl_resource *r, struct gl_copy *copy, unsigned flags);

/*
 * Like gl_staging_make(), with memory on the GPU that draws, which the device of the CUDA context
 * accesses. Records errors; gl_copy_end() then frees what exists.
 */
gr_status gl_staging_make_shared(const struct gl_resource *r, struct gl_copy *copy, unsigned flags,
                                 const char *call);

/* Returns the offset of a half in the OpenGL buffer. */
size_t gl_staging_offset(const struct gl_copy *copy, unsigned half);

/*
 * Issue an OpenGL copy of `size` bytes. gl_staging_read() copies from `offset` in the buffer object
 * to `at` in the current half. gl_staging_write() copies from `at` in the current part to `offset`
 * in the buffer object.
 */
void gl_staging_read(const struct gl_resource *r, size_t offset, size_t at, size_t size);
void gl_staging_write(const struct gl_resource *r, size_t offset, size_t at, size_t size);

/* ---- Fences ---------------------------------------------------------------------------------- */

/* Puts a fence after the commands issued so far, for gl_fence_wait(). */
void gl_fence_put(struct gl_names *names);

/* Blocks the thread until the fence is signalled, if there is one. */
gr_status gl_fence_wait(struct gl_names *names, const gr_resource *resource, const char *call);

/* Like gl_fence_wait(), for the oldest of the kept fences. */
gr_status gl_fence_wait_oldest(struct gl_names *names, const gr_resource *resource,
                               const char *call);

/*
 * Keeps the current fence, so that gl_fence_put() does not replace it. The oldest kept fence leaves
 * the list, so it must have been waited for.
 */
void gl_fence_keep(struct gl_names *names);

/*
 * gl_fence_make() makes a separate fence, which gl_fence_pass() waits for and deletes. If OpenGL
 * creates no fence, gl_fence_make() waits for OpenGL and returns NULL.
 */
struct __GLsync *gl_fence_make(void);
gr_status gl_fence_pass(struct __GLsync *fence, const gr_resource *resource, const char *call);

#endif
