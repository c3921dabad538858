/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenGL's side of the copy transport: bytes between objects and the host memory that CUDA copies
 * from and to, for a batch at once. OpenGL's state stays as it is. The objects' context is current.
 */
#ifndef GR_GL_COPY_OBJECTS_H
#define GR_GL_COPY_OBJECTS_H

#include "gl/copy/memory.h"

/* Whether the storage is what it was; as in struct gr_backend. */
gr_status gl_copy_check_storage(gr_resource *const resources[], size_t n, const char *call);

/* The same, and whether a map can read what it has to. */
gr_status gl_copy_check_mappable(gr_resource *const resources[], size_t n, const char *call);

/* Refuses a buffer that the application has mapped, which keeps everybody else out. */
gr_status gl_copy_check_unlocked(const gr_resource *resource, const char *call);

/*
 * The bytes of those that CUDA reads are in host memory when it returns. What a ring's release has
 * left to OpenGL reaches the objects first: the streams have passed `done`. The CUDA context is
 * current.
 */
gr_status gl_copy_take(gr_resource *const resources[], size_t n);

/*
 * The same for a large buffer, by way of a mapped one: OpenGL is told to move each piece, and has
 * when its fence has passed. GL_COPY_MOST_PIECES fences at the most, none after an error.
 */
gr_status gl_copy_take_pieces(gr_resource *resource, struct __GLsync *fences[]);

/* Waits until OpenGL is through with the memory that CUDA is going to write to. */
gr_status gl_copy_make_way(gr_resource *const resources[], size_t n, const char *call);

/*
 * What CUDA wrote goes from host memory into the objects. The streams have passed `done`; for a
 * buffer in pieces need not, which waits for each. The CUDA context is current.
 */
gr_status gl_copy_give(gr_resource *const resources[], size_t n);

/*
 * For a ring, in which OpenGL has done with these: tells it to move what CUDA is to read next, and
 * marks how far it is. The streams have read what was moved before.
 */
gr_status gl_copy_fetch_ahead(gr_resource *const resources[], size_t n);

#endif
