/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphics resources: what cuGraphicsMapResources and its relatives do for every kind (graphics.c),
 * and the operations in which the kinds differ (gl_buffer.c for OpenGL buffers, gl_image.c for
 * textures and renderbuffers).
 */
#ifndef GR_SOFTCUDA_DRIVER_GRAPHICS_H
#define GR_SOFTCUDA_DRIVER_GRAPHICS_H

#include "softcuda/driver/owned.h"

typedef struct soft_graphics soft_graphics;

/* Called on the application's thread unless it says otherwise. */
typedef struct {
    /*
     * Map, step 1: takes what the graphics API has drawn until now. Changes nothing that can be
     * seen.
     */
    CUresult (*fetch)(soft_graphics *resource);
    /*
     * Map, step 2: makes the memory accessible, with wrong bytes in it if `blank`. On failure it
     * isn't.
     */
    CUresult (*open)(soft_graphics *resource, bool blank);
    /*
     * Map, step 3, on the stream's thread if that has something to do first: puts the fetched bytes
     * in. Not called if there are none to see.
     */
    void (*fill)(soft_graphics *resource);

    /* Unmap, step 1: whether the graphics API can take the bytes. Changes nothing. */
    CUresult (*can_store)(soft_graphics *resource);
    /* Unmap, step 2, after the stream has come this far: hands the bytes over. */
    void (*store)(soft_graphics *resource);
    /* Unmap, step 3, and when a map is taken back: makes the memory inaccessible. */
    void (*close)(soft_graphics *resource);

    /* Whether the resource may be unregistered by the calling thread now. */
    CUresult (*can_end)(soft_graphics *resource);
    /* Frees the resource. It isn't open. May run on a stream's thread. */
    void (*free)(soft_graphics *resource);

    /* Of a mapped resource. NULL: CUDA_ERROR_NOT_MAPPED_AS_POINTER. */
    void (*pointer)(soft_graphics *resource, CUdeviceptr *address, size_t *size);
    /* Likewise. NULL, both of them: CUDA_ERROR_NOT_MAPPED_AS_ARRAY. */
    CUresult (*array)(soft_graphics *resource, unsigned layer, unsigned level, CUarray *array);
    CUresult (*mipmap)(soft_graphics *resource, CUmipmappedArray *mipmap);
} soft_graphics_ops;

/* The first member of each kind's own record. */
struct soft_graphics {
    const soft_graphics_ops *ops;
    soft_owned owned;
    _Atomic int state;
    _Atomic unsigned holds; /* the handle's, and one for each task that may still look at it */
    unsigned flags;         /* CUgraphicsMapResourceFlags of the next map */
    unsigned mapped_flags;  /* of this one */
    pthread_mutex_t lock;   /* for the two below, which a task looks at */
    uint64_t serial;        /* of the map whose bytes may still be put in; 0: of none */
    bool filled;            /* the bytes are in */
};

/*
 * Completes a record that the kind has allocated, and makes the handle. On failure nothing is
 * freed.
 */
CUresult soft_graphics_register(soft_graphics *resource, const soft_graphics_ops *ops,
                                soft_context *context, unsigned flags, CUgraphicsResource *handle);

#endif
