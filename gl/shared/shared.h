/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared transport: OpenGL objects whose storage grinterop made so that OpenGL and CUDA both
 * import it.
 */
#ifndef GR_GL_SHARED_SHARED_H
#define GR_GL_SHARED_SHARED_H

#include <grinterop/gl.h>

#include "lib/external/external.h"
#include "gl/delete_later.h"
#include "gl/shared/timeline.h"

struct gl_shared_maker;

struct gl_shared {
    struct gr_external external;
    const struct gl_shared_maker *maker;
    struct gl_context context;
    CUdevice
        device; /* that draws and has the memory; CUDA's context may be of one that reaches it */
    struct gl_names *names; /* the buffer or texture, and its memory object */
    unsigned int target;    /* GL_ARRAY_BUFFER for buffers */
    struct gl_timeline *timeline;
    struct gl_later parked; /* while a buffer of it is set aside */
    char transport[480];    /* with both devices, where they are two */
    /* Of an image: "GL_RGBA8", what CUDA sees, and its memory, of grinterop's own Vulkan device. */
    const char *format;
    gr_external_image_desc image;
    gr_resource *vulkan;
};

/* The struct of a shared resource; NULL for any other. */
struct gl_shared *gl_shared_of(const gr_resource *resource);

/* The OpenGL name of its buffer or texture. */
unsigned int gl_shared_name(const struct gl_shared *r);

/* What buffers and images do differently. */
struct gl_shared_maker {
    bool is_image;
    /*
     * Gives the resource memory, with gr_external_make() or gr_external_make_vmm(), and then its
     * OpenGL object. Both contexts are current, and OpenGL's errors begun. Records an error; what
     * it has made by then is ended by the caller.
     */
    gr_status (*make)(struct gl_shared *r, const struct gr_context *cuda, const void *info,
                      unsigned flags, const char *call);

    /* Of struct gr_external_kind, with the CUDA context current. */
    gr_status (*export_memory)(const struct gl_shared *r, struct gr_memory_export *memory);
};

/* Makes a resource of the current OpenGL context; NULL after an error, which is recorded. */
gr_resource *gl_shared_create(const struct gl_shared_maker *maker, const void *info, unsigned flags,
                              const char *call);

/*
 * Gives OpenGL the memory: names->memory. Takes the fd, whatever comes of it; llvmpipe says of a
 * bad one only later that it is bad.
 */
gr_status gl_shared_import(struct gl_names *names, int fd, size_t size, bool dedicated,
                           const char *call);

/*
 * gr_gl_buffer_create() by this transport, with arguments that were checked. `packed`: in a block
 * with others, if it is small and this OpenGL can do that.
 */
gr_resource *gl_shared_buffer(size_t size, bool packed, unsigned flags, const char *call);

/* gr_gl_image_create() by this transport, with arguments that were checked. */
gr_resource *gl_shared_image(const gr_gl_image_desc *info, unsigned flags, const char *call);

#endif
