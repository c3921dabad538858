/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What OpenGL buffers (gl_buffer.c) and images (gl_image.c) have in common as graphics resources:
 * pages of their own, as large as the object was when it was registered, at the same address for
 * every map. They are inaccessible while it isn't mapped. Bytes move between them and the object at
 * map and unmap.
 */
#ifndef GR_SOFTCUDA_DRIVER_GL_RESOURCE_H
#define GR_SOFTCUDA_DRIVER_GL_RESOURCE_H

#include "softcuda/driver/graphics/gl.h"

/*
 * Fills mapped memory until the stream reaches the map, and wherever OpenGL has no bytes for it.
 */
#define SOFT_GL_NO_BYTES 0xCD

/* The first member of each kind's own record. */
typedef struct {
    soft_graphics base;
    unsigned name;
    soft_gl_context context; /* in which the name was given */
    size_t size;
    size_t backed; /* how much of that OpenGL has now */
    unsigned char *pages;
    unsigned char *fetched; /* OpenGL's bytes on their way; NULL until a map needs it */
    char name_text[40];     /* for the message of a fault, while it is mapped */
    char what[160];         /* the same while it is not */
} soft_gl_resource;

/* Makes the pages, once name and size are set. For messages, kind is the object's and use is what
 * the application has of it, e.g. "the pointer". On failure soft_gl_resource_free ends what there
 * is. */
CUresult soft_gl_resource_make(soft_gl_resource *resource, const char *kind, const char *use);

/* Also frees the record. `after` names the pages in the message of a late access. */
void soft_gl_resource_free(soft_gl_resource *resource, const char *after);

/* Whether the next map is to see OpenGL's bytes. */
bool soft_gl_resource_is_read(const soft_gl_resource *resource);

/* Allocates the buffer for the bytes that a map fetches. */
CUresult soft_gl_resource_make_room(soft_gl_resource *resource);

/* Does the work in the context in which the name was given, or in one that may share it, see
 * soft_gl_enter. CUDA_ERROR_INVALID_GRAPHICS_CONTEXT if there is none. */
CUresult soft_gl_resource_visit(soft_graphics *resource, CUresult (*work)(soft_graphics *resource));

/* Makes the pages accessible, with SOFT_GL_NO_BYTES in them if `blank`; and inaccessible. */
CUresult soft_gl_resource_open(soft_gl_resource *resource, bool blank);
void soft_gl_resource_close(const soft_gl_resource *resource);

/* An operation of graphics.h. */
void soft_gl_resource_fill(soft_graphics *resource);

#endif
