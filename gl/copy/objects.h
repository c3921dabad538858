/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The OpenGL half of the copy transport: copies batches of objects to and from the host memory that
 * CUDA copies. Preserves the OpenGL state. The OpenGL context of the objects is current.
 */
#ifndef GR_GL_COPY_OBJECTS_H
#define GR_GL_COPY_OBJECTS_H

#include "gl/copy/memory.h"

/* Check that the storage is unchanged: the operation of struct gr_backend. */
gr_status gl_copy_check_storage(gr_resource *const resources[], size_t n, const char *call);

/* Like gl_copy_check_storage(), and checks that a map can read the objects. */
gr_status gl_copy_check_mappable(gr_resource *const resources[], size_t n, const char *call);

/*
 * Refuses a buffer that the application has mapped, because OpenGL then refuses other access to it.
 */
gr_status gl_copy_check_unlocked(const gr_resource *resource, const char *call);

/*
 * Copies objects to host memory, for CUDA to read, and waits for these copies. Before the copies,
 * writes the data of ring releases that is not in the objects yet: the streams must have passed
 * `done`. The CUDA context is current.
 */
gr_status gl_copy_read_objects(gr_resource *const resources[], size_t n);

/*
 * Like gl_copy_read_objects(), for one large buffer through mapped memory. Issues an OpenGL copy
 * for each piece; a copy is complete when its fence is signalled. Returns the number of fences, up
 * to GL_COPY_MOST_PIECES; 0 after an error.
 */
gr_status gl_copy_read_pieces(gr_resource *resource, struct __GLsync *fences[]);

/* Waits until OpenGL has finished with the memory that CUDA will write. */
gr_status gl_copy_wait_writable(gr_resource *const resources[], size_t n, const char *call);

/*
 * Copies the data that CUDA has put into host memory to the objects. The streams must have passed
 * `done`, except for a buffer in pieces: this function waits for each piece. The CUDA context is
 * current.
 */
gr_status gl_copy_write_objects(gr_resource *const resources[], size_t n);

/*
 * The use of resources by the OpenGL side of a ring, without unnecessary waits: operations of
 * struct gr_backend. Data that CUDA wrote is copied to the objects when OpenGL acquires them. Data
 * that OpenGL wrote is already in transit before CUDA acquires it.
 */
gr_status gl_copy_begin_use(gr_resource *const resources[], size_t n);
gr_status gl_copy_end_use(gr_resource *const resources[], size_t n);

#endif
