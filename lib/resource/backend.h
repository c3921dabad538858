/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The interface between the core and a backend: one table of operations for each transport of each
 * graphics API. The core validates arguments and tracks the state of resources. A backend trusts
 * its arguments and calls the graphics API.
 */
#ifndef GR_LIB_RESOURCE_BACKEND_H
#define GR_LIB_RESOURCE_BACKEND_H

#include <grinterop/semaphore.h>

#include "lib/resource/resource_types.h"

/*
 * The maximum number of resources per driver call. Arrays of that size fit on the stack, so no
 * batch needs the heap. The per-resource cost of such a call is negligible.
 */
#define GR_BATCH 256

/* ---- The table ------------------------------------------------------------------------------- */

struct gr_memory_export;

struct gr_backend {
    /* The transport, and its name in the texts of gr_resource_describe(), such as "interop". */
    gr_transport transport;
    const char *name;

    /* The API that owns the objects. */
    gr_graphics_api api;

    /* The struct of the resource begins with struct gr_external: lib/external/external.h. */
    bool is_external;

    /* Submits order the resource. Otherwise the backend issues the graphics commands. */
    bool ordered_by_submits;

    /*
     * Whether this thread may use the resource now. For OpenGL: whether the OpenGL context of the
     * resource is current. The core calls this function before every operation below, unless
     * `cuda_on_any_thread` makes that unnecessary. The function formats no text. NULL, like
     * refuse_thread() and park(): any thread may use and free the resource.
     */
    bool (*on_thread)(const gr_resource *resource);

    /*
     * Outside of begin_use() and end_use(), CUDA needs no graphics API: in a ring, any thread may
     * map and unmap the resource, and any thread may unregister it.
     */
    bool cuda_on_any_thread;

    /* Called if on_thread() returned false: records the reason and returns the error. */
    gr_status (*refuse_thread)(const gr_resource *resource);

    /* Returns the CUDA memory that the resource imported. NULL: the backend imports no memory. */
    CUexternalMemory (*external_memory)(const gr_resource *resource);

    /*
     * Returns the number of resources, from the first on, that form a run: each function below
     * handles them in one call. The resources of a run have the same backend and the same
     * on_thread() result, and the graphics API can hand all of them over in one call. The resources
     * of a ring are one run.
     */
    size_t (*run)(gr_resource *const resources[], size_t n);

    /*
     * Checks that the registered storage of the resources of a run still exists. Records the error.
     * Replaced storage of a resource that `follows` is registered again, unless the stream, which
     * may be NULL, captures a graph: the driver could not allocate.
     */
    gr_status (*check_storage)(gr_resource *const resources[], size_t n, CUstream stream);

    /*
     * Maps a run of at most GR_BATCH resources of one CUDA context: all or none. `current` of each
     * has its part or region. Sets `ptr` of each buffer, unless it is constant. The CUDA context is
     * current.
     */
    gr_status (*map)(gr_resource *const resources[], size_t n, CUstream stream);

    /*
     * undo_map() undoes a successful map() whose buffers the caller has not received. If
     * `undo_loses` is set, an undo loses the contents of write_discard resources.
     */
    bool undo_loses;
    void (*undo_map)(gr_resource *const resources[], size_t n, CUstream stream);

    /*
     * Unmaps a run of at most GR_BATCH mapped resources, and notes CUDA's last work in `sync` of
     * each. After an error all of them are still mapped.
     */
    gr_status (*unmap)(gr_resource *const resources[], size_t n, CUstream stream);

    /*
     * In place of unmap() if is_gone(): notes CUDA's last work, and leaves out all that needs the
     * graphics API, so that what CUDA wrote is lost. NULL like is_gone().
     */
    gr_status (*abandon)(gr_resource *const resources[], size_t n, CUstream stream);

    /*
     * Signals in place of the CUDA context, which has failed, so that the graphics API does not
     * wait for the last release of the resource. NULL: the host cannot signal.
     */
    void (*signal_in_place)(const gr_resource *resource);

    /*
     * Gives a resource without a defined order the semaphores of its graphics API, once the order
     * is needed: they may not exist before. If there are none, the order stays undefined. NULL: the
     * program sets the semaphores.
     */
    gr_status (*begin_order)(gr_resource *resource);

    /*
     * For a ring: begin_use() starts the use by the graphics API after a release by CUDA, and
     * end_use() ends this use before a map by CUDA. Both are called where the graphics API can use
     * the resources, and record errors. They are NULL if map() and unmap() already order both
     * sides, or if submits of the application contain the signals and waits.
     */
    gr_status (*begin_use)(gr_resource *const resources[], size_t n);
    gr_status (*end_use)(gr_resource *const resources[], size_t n);

    /* Whether begin_use() blocks the calling thread. NULL: it does not. */
    bool (*waits_in_thread)(const gr_resource *resource);

    /*
     * For images: array() returns the array of one level and layer, and mipmapped_array() the array
     * of all levels. The CUDA context is current. Both functions record the error. Both are NULL
     * for a backend without images.
     */
    gr_status (*array)(const gr_resource *resource, unsigned level, unsigned layer, CUarray *array);
    gr_status (*mipmapped_array)(const gr_resource *resource, CUmipmappedArray *array);

    /*
     * For an image of a transport that copies: whether the next map and its release can move only
     * the region of the mapping. NULL: they always move all of it.
     */
    bool (*moves_region)(const gr_resource *resource);

    /*
     * For a mapped image with a region: the address of the linear memory through which its texels
     * are copied, tightly packed, if kernels can access it in place of the arrays; otherwise 0.
     * Before the map it is 0 in the same cases. NULL: there is no such memory.
     */
    CUdeviceptr (*linear)(const gr_resource *resource);

    /* Ends the registration, even if this function returns an error. */
    gr_status (*unregister)(gr_resource *resource);

    /*
     * Whether the graphics context of the resource has ended, so that mappings and the registration
     * can end on any thread, and nothing of the graphics API is left. NULL: false.
     */
    bool (*is_gone)(const gr_resource *resource);

    /*
     * Called if on_thread() returned false: defers the destruction of a freed resource, or the
     * release of its buffer. The resource lives until a thread that may use it calls
     * gr_resource_unpark(). With `cuda_on_any_thread`, only the release is deferred.
     */
    void (*park)(gr_resource *resource, bool freed);

    /*
     * Ends all deferred objects that this thread may end. Called only if this thread may use the
     * resource.
     */
    void (*collect)(const gr_resource *resource);

    /* Describes the object of the resource, such as "OpenGL buffer 3". */
    void (*describe)(const gr_resource *resource, char *text, size_t size);

    /* Frees the memory of the resource, and objects that no CUDA work uses. */
    void (*destroy)(gr_resource *resource);

    /*
     * For sharing with another process: export the handle and description of the memory, and the
     * handle of a semaphore. The caller owns the descriptors. NULL if they cannot be exported.
     */
    gr_status (*export_memory)(const gr_resource *resource, struct gr_memory_export *memory);
    gr_status (*export_semaphore)(const gr_resource *resource, const gr_semaphore *semaphore,
                                  gr_semaphore_desc *info);

    /*
     * Creates a timeline semaphore that export_semaphore() can export, for a ring of such
     * resources. NULL after recording an error.
     */
    gr_semaphore *(*create_semaphore)(const gr_resource *resource);

    /*
     * With begin_use(), for a ring that another process shares: creates a pair of timelines that
     * export_semaphore() can export and begin_use() can wait for. If that is impossible, returns
     * NULL and records no error.
     */
    struct gr_semaphore_pair *(*create_pair)(const gr_resource *resource);
};

/* ---- Threads --------------------------------------------------------------------------------- */

/* Whether the graphics API can use the resource on this thread. */
static inline bool gr_resource_graphics_here(const gr_resource *resource)
{
    const struct gr_backend *backend = resource->backend;
    return !backend->on_thread || backend->on_thread(resource);
}

static inline bool gr_resource_graphics_gone(const gr_resource *resource)
{
    return resource->backend->is_gone && resource->backend->is_gone(resource);
}

/* Whether this thread may use the resource. */
static inline bool gr_resource_on_thread(const gr_resource *resource)
{
    return (resource->in_a_ring && resource->backend->cuda_on_any_thread) ||
           gr_resource_graphics_here(resource);
}

/* Returns GR_OK if this thread may use the resource, otherwise the recorded error. */
static inline gr_status gr_resource_check_thread(const gr_resource *resource)
{
    return gr_resource_on_thread(resource) ? GR_OK : resource->backend->refuse_thread(resource);
}

/* Like gr_resource_check_thread(), for calls that use the graphics API, even in a ring. */
static inline gr_status gr_resource_check_graphics_here(const gr_resource *resource)
{
    return gr_resource_graphics_here(resource) ? GR_OK : resource->backend->refuse_thread(resource);
}

/* ---- Failures and deferred releases ---------------------------------------------------------- */

/*
 * For a call that failed with GR_ERR_DEVICE_LOST. Checks the CUDA context of each resource, because
 * the lost device may be the graphics device, or the device of an event that the caller passed.
 */
static inline void gr_resources_after_failure(gr_resource *const resources[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (resources[i]->backend->signal_in_place && gr_context_has_failed(&resources[i]->context))
            resources[i]->backend->signal_in_place(resources[i]);
}

/*
 * Releases the deferred buffers of the resource if this thread may use the resource. Waits for a
 * thread that is releasing them.
 */
static inline void gr_resource_collect(const gr_resource *resource)
{
    const gr_buffer *mapped = resource->mapped;
    if (((mapped && mapped->later) || resource->deferred) && gr_resource_graphics_here(resource))
        resource->backend->collect(resource);
}

#endif
