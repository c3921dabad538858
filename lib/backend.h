/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The interface between the core and a backend: one table of operations for each transport. The
 * core validates arguments and keeps the life cycle; a backend trusts its input and knows the
 * graphics API.
 */
#ifndef GR_LIB_BACKEND_H
#define GR_LIB_BACKEND_H

#include "lib/resource_types.h"

/*
 * The maximum number of resources per driver call. Arrays of that size fit on the stack, so that no
 * batch needs the heap, and the per-resource cost of such a call is negligible.
 */
#define GR_BATCH 256

struct gr_backend {
    /* The transport, and its name in describe texts, such as "interop". */
    gr_transport transport;
    const char *name;

    /* The API that owns the objects, unless the kind overrides it. */
    gr_graphics_api api;

    /*
     * Whether this thread may use the resource now; for OpenGL, whether its context is current.
     * Checked before every operation below, which need not check again. It formats no text.
     */
    bool (*on_thread)(const gr_resource *resource);

    /* Whether on_thread() is always true and park() missing. NULL: false. */
    bool (*any_thread)(const gr_resource *resource);

    /* After on_thread() returned false: records why, and returns the error. */
    gr_status (*refuse_thread)(const gr_resource *resource, const char *call);

    /* The CUDA memory that the resource imported. NULL: the backend imports none. */
    CUexternalMemory (*external_memory)(const gr_resource *resource);

    /*
     * The number of resources, beginning with the first, that one call below can handle:
     * consecutive ones of the same backend, for which on_thread() of the first answers, and which
     * one call of their graphics API hands over.
     */
    size_t (*run)(gr_resource *const resources[], size_t n);

    /* Checks that the registered storage of a run still exists. Records the error. */
    gr_status (*check_storage)(gr_resource *const resources[], size_t n, const char *call);

    /*
     * Maps a run of n resources of one CUDA context, all or none, and sets ptr in the `pending`
     * buffer of each that is not an image. The CUDA context is current.
     */
    gr_status (*map)(gr_resource *const resources[], size_t n, CUstream stream);

    /*
     * Undoes a successful map() before its buffers were given out; and whether write_discard
     * resources lose their contents by that.
     */
    bool undo_loses;
    void (*undo_map)(gr_resource *const resources[], size_t n, CUstream stream);

    /*
     * Unmaps at most GR_BATCH mapped resources in the same way; after an error all are still
     * mapped.
     */
    gr_status (*unmap)(gr_resource *const resources[], size_t n, CUstream stream);

    /*
     * Begins and ends the graphics side's use in a ring, on a thread that may: after CUDA's release
     * and before CUDA's map. NULL if map and unmap are barriers themselves.
     */
    gr_status (*begin_use)(gr_resource *const resources[], size_t n);
    gr_status (*end_use)(gr_resource *const resources[], size_t n);

    /*
     * An event after CUDA's last work with an unmapped resource; *event stays NULL if there was
     * none, and *owned says whether the caller owns it. The CUDA context is current. NULL: the
     * stream of the last release has the work.
     */
    gr_status (*last_work)(gr_resource *resource, CUevent *event, bool *owned);

    /*
     * For images: the array of an existing level and layer, and all of them; the CUDA context is
     * current. Both record the error. NULL for a backend without images.
     */
    gr_status (*array)(const gr_resource *resource, unsigned level, unsigned layer, CUarray *array);
    gr_status (*mipmapped_array)(const gr_resource *resource, CUmipmappedArray *array,
                                 const char *call);

    /* Ends the registration, even if it returns an error. */
    gr_status (*unregister)(gr_resource *resource);

    /*
     * Defers the end of a freed resource, or of its buffer, from a thread that may not do it: once
     * one may, it calls gr_resource_unpark(). The resource lives until then.
     */
    void (*park)(gr_resource *resource, bool freed);

    /* Ends what was deferred and can be ended by a thread that may use this resource. */
    void (*collect)(const gr_resource *resource);

    /* Writes the object of the resource: "OpenGL buffer 3". */
    void (*describe)(const gr_resource *resource, char *text, size_t size);

    /* Frees the resource's memory. */
    void (*destroy)(gr_resource *resource);
};

/* GR_OK if this thread may use the resource; else the recorded error. */
static inline gr_status gr_resource_check_thread(const gr_resource *resource, const char *call)
{
    const struct gr_backend *backend = resource->backend;
    return backend->on_thread(resource) ? GR_OK : backend->refuse_thread(resource, call);
}

/* Ends the resource's deferred buffers, if this thread may. */
static inline void gr_resource_collect(const gr_resource *resource)
{
    if (__atomic_load_n(&resource->set_aside, __ATOMIC_ACQUIRE) &&
        resource->backend->on_thread(resource))
        resource->backend->collect(resource);
}

#endif
