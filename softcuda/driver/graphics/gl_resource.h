/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The common part of OpenGL buffers (gl_buffer.c) and images (gl_image.c) as graphics resources:
 * their own pages of the object's size at its registration, at the same address for all maps. The
 * pages are inaccessible while it is not mapped. Map and unmap copy the bytes.
 */
#ifndef GR_SOFTCUDA_DRIVER_GL_RESOURCE_H
#define GR_SOFTCUDA_DRIVER_GL_RESOURCE_H

#include "softcuda/driver/graphics/gl.h"

/* Fills mapped memory until the stream reaches the map, and where OpenGL has no bytes. */
#define SOFT_GL_NO_BYTES 0xCD

/* The first member of each kind's own struct. */
typedef struct {
    soft_graphics base;
    unsigned name;
    soft_gl_context context; /* in which the name was created */
    size_t size;
    size_t backed; /* how much of it OpenGL has now */
    unsigned char *pages;
    unsigned char *fetched; /* OpenGL's bytes in transit; NULL until a map needs it */
    char name_text[40];     /* for fault messages while it is mapped */
    char what[200];         /* the same while it is not */
} soft_gl_resource;

/*
 * Allocates the pages, after name and size are set. For messages: `kind` is the type of the object,
 * `use` what the application gets of it, such as "the pointer". After a failure
 * soft_gl_resource_free() frees what was allocated.
 */
CUresult soft_gl_resource_make(soft_gl_resource *resource, const char *kind, const char *use);

/* Also frees the struct. `after` describes the pages in the message of a late access. */
void soft_gl_resource_free(soft_gl_resource *resource, const char *after);

/* Whether the next map needs OpenGL's bytes. */
bool soft_gl_resource_is_read(const soft_gl_resource *resource);

/* Allocates the buffer for the bytes that a map fetches. */
CUresult soft_gl_resource_alloc_buffer(soft_gl_resource *resource);

/*
 * Runs `work` in the context in which the name was created, or in one that may share it
 * (soft_gl_enter()). CUDA_ERROR_INVALID_GRAPHICS_CONTEXT if there is none.
 */
CUresult soft_gl_resource_visit(soft_graphics *resource, CUresult (*work)(soft_graphics *resource));

/* Makes the pages accessible, filled with SOFT_GL_NO_BYTES if `blank`; and inaccessible. */
CUresult soft_gl_resource_open(soft_gl_resource *resource, bool blank);
void soft_gl_resource_close(const soft_gl_resource *resource);

/* An operation of graphics.h. */
void soft_gl_resource_fill(soft_graphics *resource);

#endif
