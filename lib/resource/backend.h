/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The interface between the core and a backend: one table of operations for each transport. The
 * core validates arguments and tracks the state of resources. A backend trusts its arguments and
 * calls the graphics API.
 */
#ifndef GR_LIB_RESOURCE_BACKEND_H
#define GR_LIB_RESOURCE_BACKEND_H

#include "lib/resource/resource_types.h"

/*
 * The maximum number of resources per driver call. Arrays of that size fit on the stack, so no
 * batch needs the heap. The per-resource cost of such a call is negligible.
 */
#define GR_BATCH 256

struct gr_backend {
    /* The transport, and its name in the texts of gr_resource_describe(), such as "interop". */
    gr_transport transport;
    const char *name;

    /* The API that owns the objects, unless struct gr_external_kind names another API. */
    gr_graphics_api api;

    /*
     * Whether this thread may use the resource now. For OpenGL: whether the OpenGL context of the
     * resource is current. The core calls this function before every operation below. The function
     * formats no text.
     */
    bool (*on_thread)(const gr_resource *resource);

    /*
     * Whether any thread may use and free this resource: on_thread() always returns true, and
     * park() has nothing to do. If this member is NULL, the answer is no.
     */
    bool (*any_thread)(const gr_resource *resource);

    /* Called if on_thread() returned false: records the reason and returns the error. */
    gr_status (*refuse_thread)(const gr_resource *resource, const char *call);

    /* Returns the CUDA memory that the resource imported. NULL: the backend imports no memory. */
    CUexternalMemory (*external_memory)(const gr_resource *resource);

    /*
     * Returns the number of resources, from the first on, that form a run: each function below
     * handles them in one call. The resources of a run have the same backend and the same
     * on_thread() result, and the graphics API can hand all of them over in one call.
     */
    size_t (*run)(gr_resource *const resources[], size_t n);

    /*
     * Checks that the registered storage of the resources of a run still exists. Records the error.
     */
    gr_status (*check_storage)(gr_resource *const resources[], size_t n, const char *call);

    /*
     * Maps a run of n resources of one CUDA context: all or none. Sets `ptr` of each buffer, unless
     * it is constant. The CUDA context is current.
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
     * Signals in place of the CUDA context, which has failed, so that the graphics API does not
     * wait for the last release of the resource. NULL: the host cannot signal.
     */
    void (*signal_in_place)(const gr_resource *resource);

    /*
     * For a ring: begin_use() starts the use by the graphics API after a release by CUDA, and
     * end_use() ends this use before a map by CUDA. Both are called on a thread that may use the
     * resources. They are NULL if map() and unmap() already order both sides.
     */
    gr_status (*begin_use)(gr_resource *const resources[], size_t n);
    gr_status (*end_use)(gr_resource *const resources[], size_t n);

    /*
     * Describes the semaphore that CUDA's last work may wait for, in a sentence that begins with a
     * space; "" if there is none. NULL: the backend has no semaphores.
     */
    void (*describe_wait)(const gr_resource *resource, char *text, size_t size);

    /*
     * For images: array() returns the array of one level and layer, and mipmapped_array() the array
     * of all levels. The CUDA context is current. Both functions record the error. Both are NULL
     * for a backend without images.
     */
    gr_status (*array)(const gr_resource *resource, unsigned level, unsigned layer, CUarray *array);
    gr_status (*mipmapped_array)(const gr_resource *resource, CUmipmappedArray *array,
                                 const char *call);

    /* Ends the registration, even if this function returns an error. */
    gr_status (*unregister)(gr_resource *resource);

    /*
     * Called if on_thread() returned false: defers the destruction of a freed resource, or the
     * release of its buffer. The resource lives until a thread that may use it calls
     * gr_resource_unpark().
     */
    void (*park)(gr_resource *resource, bool freed);

    /*
     * Ends all deferred objects that this thread may end. Called only if this thread may use the
     * resource.
     */
    void (*collect)(const gr_resource *resource);

    /* Describes the object of the resource, such as "OpenGL buffer 3". */
    void (*describe)(const gr_resource *resource, char *text, size_t size);

    /* Frees the memory of the resource. */
    void (*destroy)(gr_resource *resource);
};

/* Returns GR_OK if this thread may use the resource, otherwise the recorded error. */
static inline gr_status gr_resource_check_thread(const gr_resource *resource, const char *call)
{
    const struct gr_backend *backend = resource->backend;
    return backend->on_thread(resource) ? GR_OK : backend->refuse_thread(resource, call);
}

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
    const gr_buffer *mapped = gr_resource_mapping(resource);
    if (((mapped && gr_buffer_is_later(mapped)) ||
         __atomic_load_n(&resource->deferred, __ATOMIC_SEQ_CST)) &&
        resource->backend->on_thread(resource))
        resource->backend->collect(resource);
}

#endif
