/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Graphics resources: the part of cuGraphicsMapResources and related calls that all kinds share
 * (graphics.c), and the operations in which kinds differ (gl_buffer.c for OpenGL buffers,
 * gl_image.c for textures and renderbuffers).
 */
#ifndef GR_SOFTCUDA_DRIVER_GRAPHICS_H
#define GR_SOFTCUDA_DRIVER_GRAPHICS_H

#include "softcuda/driver/owned.h"

typedef struct soft_graphics soft_graphics;

/* Called on the application's thread unless a comment says otherwise. */
typedef struct {
    /* Map, step 1: fetches what the graphics API has drawn. Changes nothing visible. */
    CUresult (*fetch)(soft_graphics *resource);
    /*
     * Map, step 2: makes the memory accessible, with wrong bytes in it if `blank`. After a failure
     * it is inaccessible.
     */
    CUresult (*open)(soft_graphics *resource, bool blank);
    /*
     * Map, step 3, on the stream's thread if the stream has work before it: fills in the fetched
     * bytes. Not called if there are none.
     */
    void (*fill)(soft_graphics *resource);

    /* Unmap, step 1: whether the graphics API can take the bytes. Changes nothing. */
    CUresult (*can_store)(soft_graphics *resource);
    /* Unmap, step 2, after the stream has reached it: stores the bytes. */
    void (*store)(soft_graphics *resource);
    /* Unmap, step 3, and undo of a map: makes the memory inaccessible. */
    void (*close)(soft_graphics *resource);

    /* Whether the calling thread may unregister the resource now. */
    CUresult (*can_end)(soft_graphics *resource);
    /* Frees the resource, which is closed. May run on a stream's thread. */
    void (*free)(soft_graphics *resource);

    /* Of a mapped resource. NULL: CUDA_ERROR_NOT_MAPPED_AS_POINTER. */
    void (*pointer)(soft_graphics *resource, CUdeviceptr *address, size_t *size);
    /* Of a mapped resource. Both NULL: CUDA_ERROR_NOT_MAPPED_AS_ARRAY. */
    CUresult (*array)(soft_graphics *resource, unsigned layer, unsigned level, CUarray *array);
    CUresult (*mipmap)(soft_graphics *resource, CUmipmappedArray *mipmap);
} soft_graphics_ops;

/* The first member of each kind's own struct. */
struct soft_graphics {
    const soft_graphics_ops *ops;
    soft_owned owned;
    _Atomic int state;
    _Atomic unsigned holds; /* the handle's, and one per task that may still access it */
    unsigned flags;         /* CUgraphicsMapResourceFlags of the next map */
    unsigned mapped_flags;  /* of the present map */
    pthread_mutex_t lock;   /* for the two fields below, which tasks read */
    uint64_t serial;        /* of the map whose bytes may still be filled in; 0: none */
    bool filled;            /* the bytes were filled in */
};

/*
 * Completes a struct that the kind has allocated, and creates the handle. After a failure nothing
 * is freed.
 */
CUresult soft_graphics_register(soft_graphics *resource, const soft_graphics_ops *ops,
                                soft_context *context, unsigned flags, CUgraphicsResource *handle);

#endif
