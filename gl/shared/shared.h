/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The shared transport: OpenGL objects whose storage grinterop allocates so that both OpenGL and
 * CUDA can import it.
 */
#ifndef GR_GL_SHARED_SHARED_H
#define GR_GL_SHARED_SHARED_H

#include <cuda.h>
#include <grinterop/gl.h>

#include "lib/resource/choose_transport.h"
#include "gl/object/object.h"
#include "gl/shared/timeline.h"

struct gl_shared {
    struct gl_resource gl; /* `owned` has the buffer or texture, and its memory object */
    /* the device that draws and has the memory; CUDA may compute on another device */
    CUdevice device;
    struct gl_timeline *timeline; /* the pair outside of a ring that has its own pair */
    /*
     * For images only: the image as CUDA sees it, and the memory on the private Vulkan device.
     */
    gr_external_image_desc image;
    gr_resource *vulkan;
};

/* Casts the resource; NULL if it does not have the shared transport. */
struct gl_shared *gl_shared_of(const gr_resource *resource);

/* An OpenGL object to create, with checked arguments. */
struct gl_wish {
    size_t size;                   /* of a buffer */
    const gr_gl_image_desc *image; /* NULL for buffers */
    bool packed;                   /* for buffers only: the buffer may share a block with others */
    unsigned flags;
    const char *call;
    struct gl_context context; /* the current OpenGL context */
    struct gr_transport_choice choice;
    struct gl_resource *made; /* the result, or NULL */
};

/* Creates a resource of the shared transport. */
gr_status gl_shared_create(struct gl_wish *wish);

/*
 * Allocate the memory, by gr_external_make_buffer() or gr_external_make(), and then the OpenGL
 * object. Both contexts are current, and gl_errors_take() has been called. Record errors; the
 * caller then frees the objects created so far.
 */
gr_status gl_shared_make_buffer(struct gl_shared *r, const struct gr_context *cuda,
                                const struct gl_wish *wish);
gr_status gl_shared_make_image(struct gl_shared *r, const struct gr_context *cuda,
                               const struct gl_wish *wish);

/*
 * Imports the memory into OpenGL as names->memory. Always takes the fd, even after an error.
 * llvmpipe reports an invalid fd only later.
 */
gr_status gl_shared_import(struct gl_names *names, int fd, size_t size, bool dedicated,
                           const char *call);

/*
 * gl_shared_allocate() allocates CUDA memory on `device` for gl_shared_place(), which creates
 * names->buffer of `size` bytes in it. The caller owns the memory and drops it, also after an error
 * of gl_shared_place(). Both contexts are current. Call gl_shared_place() after gl_errors_take().
 */
struct gr_import *gl_shared_allocate(CUdevice device, size_t size, const char *call);
gr_status gl_shared_place(struct gl_names *names, const struct gr_import *memory, size_t size,
                          const char *call);

#endif
