/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The OpenGL side of the copy transport: copies batches of objects to and from the host memory that
 * CUDA copies. Preserves OpenGL state. The objects' context is current.
 */
#ifndef GR_GL_COPY_OBJECTS_H
#define GR_GL_COPY_OBJECTS_H

#include "gl/copy/memory.h"

/* Checks that the storage is unchanged; see struct gr_backend. */
gr_status gl_copy_check_storage(gr_resource *const resources[], size_t n, const char *call);

/* Also checks that a map can read the objects. */
gr_status gl_copy_check_mappable(gr_resource *const resources[], size_t n, const char *call);

/* Refuses a buffer that the application has mapped, since OpenGL then refuses other access. */
gr_status gl_copy_check_unlocked(const gr_resource *resource, const char *call);

/*
 * Copies the objects that CUDA reads to host memory and waits for it. First writes data that a ring
 * release left to the objects; the streams have passed `done`. The CUDA context is current.
 */
gr_status gl_copy_read_objects(gr_resource *const resources[], size_t n);

/*
 * The same for a large buffer through mapped memory. Issues an OpenGL copy per piece; each is
 * complete when its fence is signalled. Returns up to GL_COPY_MOST_PIECES fences, none after an
 * error.
 */
gr_status gl_copy_read_pieces(gr_resource *resource, struct __GLsync *fences[]);

/* Waits until OpenGL has finished with the memory that CUDA will write. */
gr_status gl_copy_wait_writable(gr_resource *const resources[], size_t n, const char *call);

/*
 * Copies the data that CUDA wrote from host memory to the objects. The streams have passed `done`,
 * except for a buffer in pieces, where this waits for each piece. The CUDA context is current.
 */
gr_status gl_copy_write_objects(gr_resource *const resources[], size_t n);

/*
 * For a ring whose OpenGL side has finished with the resources: starts copying what CUDA will read
 * next, followed by a fence. The streams have read the previous data.
 */
gr_status gl_copy_fetch_ahead(gr_resource *const resources[], size_t n);

#endif
