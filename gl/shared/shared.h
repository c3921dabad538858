/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared transport: OpenGL objects whose storage grinterop made so that OpenGL and CUDA both
 * import it.
 */
#ifndef GR_GL_SHARED_SHARED_H
#define GR_GL_SHARED_SHARED_H

#include <grinterop/gl.h>

#include "lib/external/external.h"
#include "gl/leftover.h"
#include "gl/shared/timeline.h"

struct gl_shared {
    struct gr_external external;
    struct gl_context context;
    struct gl_names *names; /* the buffer or texture, and its memory object */
    unsigned int target;    /* GL_ARRAY_BUFFER for buffers */
    struct gl_timeline *timeline;
    /* Of an image: "GL_RGBA8", what CUDA sees, and its memory, of grinterop's own Vulkan device. */
    const char *format;
    gr_external_image image;
    gr_resource *vulkan;
};

/* The struct of a shared resource; NULL for any other. */
struct gl_shared *gl_shared_of(const gr_resource *resource);

/* The OpenGL name of its buffer or texture. */
unsigned int gl_shared_name(const struct gl_shared *r);

/*
 * gr_gl_buffer_create() and gr_gl_image_create() by this transport, with arguments that were
 * checked.
 */
gr_resource *gl_shared_buffer(size_t size, unsigned flags, const char *call);
gr_resource *gl_shared_image(const gr_gl_image_info *info, unsigned flags, const char *call);

/* ---- For the two of them (shared.c) ---------------------------------------------------------- */

/*
 * Makes a resource of the current OpenGL context: `make` gives it memory, with gr_external_make()
 * or gr_external_make_vmm(), and then its OpenGL object. Both contexts are current there, and
 * OpenGL's errors begun; after an error, which it records, all is ended here.
 */
typedef gr_status gl_shared_make_fn(struct gl_shared *r, const struct gr_context *cuda,
                                    const void *info, unsigned flags, const char *call);
gr_resource *gl_shared_create(gl_shared_make_fn *make, const void *info, unsigned flags,
                              const char *call);

/*
 * Gives OpenGL the memory: names->memory. Takes the fd, whatever comes of it; llvmpipe says of a
 * bad one only later that it is bad.
 */
gr_status gl_shared_import(struct gl_names *names, int fd, size_t size, bool dedicated,
                           const char *call);

/* The hook export_memory() of both. */
gr_status gl_shared_export_buffer(const struct gl_shared *r, struct gr_memory_export *memory);
gr_status gl_shared_export_image(const struct gl_shared *r, struct gr_memory_export *memory);

#endif
