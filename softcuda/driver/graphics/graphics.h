/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Graphics resources: the part of cuGraphicsMapResources and related calls that is the same for all
 * kinds of resources (graphics.c), and the operations that differ between kinds (gl_buffer.c for
 * OpenGL buffers, gl_image.c for textures and renderbuffers).
 */
#ifndef GR_SOFTCUDA_DRIVER_GRAPHICS_H
#define GR_SOFTCUDA_DRIVER_GRAPHICS_H

#include "softcuda/driver/owned.h"

typedef struct soft_graphics soft_graphics;

/*
 * The operations of one kind of resource. They are called on the application's thread unless a
 * comment says otherwise.
 */
typedef struct {
    /* Map, step 1: fetches the bytes from the graphics API. The application sees no change. */
    CUresult (*fetch)(soft_graphics *resource);
    /*
     * Map, step 2: makes the memory accessible, filled with wrong bytes if `blank`. After a failure
     * the memory is inaccessible.
     */
    CUresult (*open)(soft_graphics *resource, bool blank);
    /*
     * Map, step 3: fills in the fetched bytes. Not called if none were fetched. Runs on the
     * stream's thread if the stream has work before the map.
     */
    void (*fill)(soft_graphics *resource);

    /* Unmap, step 1: whether the graphics API can take the bytes. Changes nothing. */
    CUresult (*can_store)(soft_graphics *resource);
    /* Unmap, step 2, after the stream has reached the unmap: stores the bytes. */
    void (*store)(soft_graphics *resource);
    /* Unmap, step 3, and undo of a map: makes the memory inaccessible. */
    void (*close)(soft_graphics *resource);

    /* Whether the calling thread may unregister the resource now. */
    CUresult (*can_end)(soft_graphics *resource);
    /* Frees the resource, after `close` ended its last map. May run on the thread of a stream. */
    void (*free)(soft_graphics *resource);

    /*
     * Gets the pointer to a mapped resource. For a kind without pointers this function is NULL, and
     * the call returns CUDA_ERROR_NOT_MAPPED_AS_POINTER.
     */
    void (*pointer)(soft_graphics *resource, CUdeviceptr *address, size_t *size);
    /*
     * Get an array and the mipmapped array of a mapped resource. For a kind without arrays both
     * functions are NULL, and the calls return CUDA_ERROR_NOT_MAPPED_AS_ARRAY.
     */
    CUresult (*array)(soft_graphics *resource, unsigned layer, unsigned level, CUarray *array);
    CUresult (*mipmap)(soft_graphics *resource, CUmipmappedArray *mipmap);
} soft_graphics_ops;

/* The first member of the struct of each kind of resource. */
struct soft_graphics {
    const soft_graphics_ops *ops;
    const char *name; /* for messages; set by the creator */
    soft_owned owned;
    _Atomic int state;
    /* References: the handle, and each task that may still access the resource. */
    _Atomic unsigned holds;
    unsigned flags;        /* CUgraphicsMapResourceFlags of the next map */
    unsigned mapped_flags; /* the CUgraphicsMapResourceFlags of the present map */
    pthread_mutex_t lock;  /* protects the two fields below, which tasks read */
    uint64_t serial;       /* the number of the present map; 0 if there is none */
    bool filled;           /* that map's bytes were filled in */
};

/*
 * Completes a struct that the caller has allocated, and creates the handle. Like the NVIDIA driver,
 * waits for the work of the context. After a failure nothing is freed.
 */
CUresult soft_graphics_register(soft_graphics *resource, const soft_graphics_ops *ops,
                                soft_context *context, unsigned flags, CUgraphicsResource *handle);

#endif
