/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the core asks of a backend: one table of operations for each way of sharing bytes. The core
 * validates arguments and keeps the life cycle; a backend trusts its input and knows the graphics
 * API.
 */
#ifndef GR_LIB_BACKEND_H
#define GR_LIB_BACKEND_H

#include "lib/resource_types.h"

/*
 * How many resources go into one call of the driver at the most: an array of that size fits on the
 * stack, so that no batch needs the heap, and a call for so many costs as good as nothing for each.
 */
#define GR_BATCH 256

struct gr_backend {
    /* The transport, and its name in describe texts, for example "interop". */
    gr_transport transport;
    const char *name;

    /* Whose objects they are, where a kind says nothing else. */
    gr_graphics_api api;

    /*
     * Whether this thread may touch the resource now, for OpenGL: whether its context is current.
     * Asked before every operation below, which need not ask again. It formats nothing.
     */
    bool (*on_thread)(const gr_resource *resource);

    /* Whether on_thread() is always true, and park() not there. NULL: it is not. */
    bool (*any_thread)(const gr_resource *resource);

    /* After on_thread() said no: records why, and returns the error. */
    gr_status (*refuse_thread)(const gr_resource *resource, const char *call);

    /*
     * How many of n resources, of which the first is of this backend, go together with it in the
     * calls below: those that follow it and are of the backend too, for which its on_thread()
     * answers, and which one call of their graphics API hands over.
     */
    size_t (*run)(gr_resource *const resources[], size_t n);

    /*
     * Whether what was registered is still there to be mapped, of a run on its thread. Records the
     * error.
     */
    gr_status (*check_storage)(gr_resource *const resources[], size_t n, const char *call);

    /*
     * Maps a run of n resources of one CUDA context, all or nothing, and fills in ptr of the
     * `pending` buffer of each that is no image. The CUDA context is current.
     */
    gr_status (*map)(gr_resource *const resources[], size_t n, CUstream stream);

    /*
     * Takes back a map() that succeeded, of resources whose buffers were not given out yet; and
     * whether those with write_discard lose what they hold by that.
     */
    bool undo_loses;
    void (*undo_map)(gr_resource *const resources[], size_t n, CUstream stream);

    /* Unmaps at most GR_BATCH mapped resources, likewise; on an error all are still mapped. */
    gr_status (*unmap)(gr_resource *const resources[], size_t n, CUstream stream);

    /*
     * The graphics API's turn in a ring, on a thread that may: begins, after CUDA's release, and
     * ends, before CUDA's map. NULL where map and unmap are barriers by themselves.
     */
    gr_status (*begin_use)(gr_resource *const resources[], size_t n);
    gr_status (*end_use)(gr_resource *const resources[], size_t n);

    /*
     * An event after CUDA's last work with a resource that is not mapped; *event stays NULL where
     * there was none, and *owned says whether it is the caller's now. The CUDA context is current.
     * NULL: the work is told by the stream of the last release.
     */
    gr_status (*last_work)(gr_resource *resource, CUevent *event, bool *owned);

    /*
     * For images: the array of a level and layer that exist, and all of them; the CUDA context is
     * current. Both record the error. NULL for a backend without images.
     */
    gr_status (*array)(const gr_resource *resource, unsigned level, unsigned layer, CUarray *array);
    gr_status (*mipmapped_array)(const gr_resource *resource, CUmipmappedArray *array,
                                 const char *call);

    /* Ends the registration. It is over even after an error. */
    gr_status (*unregister)(gr_resource *resource);

    /*
     * Sets a resource aside that was let go of (freed), or its buffer, on a thread that may not end
     * it: once one may, gr_resource_unpark() is called. The resource lives until then.
     */
    void (*park)(gr_resource *resource, bool freed);

    /* Ends now what can be ended of what was set aside, on a thread that may touch this resource.
     */
    void (*collect)(const gr_resource *resource);

    /* Writes what the resource was made from: "OpenGL buffer 3". */
    void (*describe)(const gr_resource *resource, char *text, size_t size);

    /* Frees the resource's memory. */
    void (*destroy)(gr_resource *resource);
};

/* GR_OK where this thread may touch the resource; else the recorded error. */
static inline gr_status gr_resource_check_thread(const gr_resource *resource, const char *call)
{
    const struct gr_backend *backend = resource->backend;
    return backend->on_thread(resource) ? GR_OK : backend->refuse_thread(resource, call);
}

/* Ends what was set aside of the resource, if this thread may. */
static inline void gr_resource_collect(const gr_resource *resource)
{
    if (__atomic_load_n(&resource->set_aside, __ATOMIC_ACQUIRE) &&
        resource->backend->on_thread(resource))
        resource->backend->collect(resource);
}

#endif
