/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The common part of OpenGL buffers (gl_buffer.c) and images (gl_image.c) as graphics resources.
 * Each resource has its own pages, as large as the OpenGL object at its registration and at the
 * same address for all maps. While the resource is not mapped, the pages are inaccessible. Map and
 * unmap copy the bytes.
 */
#ifndef GR_SOFTCUDA_DRIVER_GL_RESOURCE_H
#define GR_SOFTCUDA_DRIVER_GL_RESOURCE_H

#include "softcuda/driver/graphics/gl.h"

/*
 * The value of mapped bytes before the stream reaches the map, and of bytes that OpenGL does not
 * have.
 */
#define SOFT_GL_NO_BYTES 0xCD

/* The first member of the struct of each kind of resource. */
typedef struct {
    soft_graphics base;
    unsigned name;
    soft_gl_label label;
    soft_gl_context context; /* the OpenGL context in which the name was created */
    size_t size;
    size_t backed; /* how many of the `size` bytes OpenGL has now */
    unsigned char *pages;
    /* The fetched bytes until they are filled in; NULL before the first map that fetches. */
    unsigned char *fetched;
    char name_text[40]; /* for fault messages while the resource is mapped */
    char what[200];     /* for fault messages while the resource is not mapped */
} soft_gl_resource;

/*
 * Allocates the pages. Name and size must be set. `kind` and `use` are for messages: the type of
 * the object, and what the application gets from it, such as "the pointer". After a failure
 * soft_gl_resource_free() frees what was allocated.
 */
CUresult soft_gl_resource_make(soft_gl_resource *resource, const char *kind, const char *use);

/* Frees the pages and the struct. `after` describes the pages in fault messages after this call. */
void soft_gl_resource_free(soft_gl_resource *resource, const char *after);

/* Whether the next map needs the bytes that OpenGL has. */
bool soft_gl_resource_is_read(const soft_gl_resource *resource);

/* Allocates the buffer for the bytes that a map fetches. */
CUresult soft_gl_resource_alloc_buffer(soft_gl_resource *resource);

/*
 * Runs `work` in the OpenGL context in which the name was created, or in one that may share the
 * name (soft_gl_enter()). CUDA_ERROR_INVALID_GRAPHICS_CONTEXT if there is no such context.
 */
CUresult soft_gl_resource_visit(soft_graphics *resource, CUresult (*work)(soft_graphics *resource));

/*
 * soft_gl_resource_open() makes the pages accessible, filled with SOFT_GL_NO_BYTES if `blank`.
 * soft_gl_resource_close() makes them inaccessible.
 */
CUresult soft_gl_resource_open(soft_gl_resource *resource, bool blank);
void soft_gl_resource_close(const soft_gl_resource *resource);

/* The operation `fill` of graphics.h. */
void soft_gl_resource_fill(soft_graphics *resource);

#endif
