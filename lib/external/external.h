/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Resources in external memory, and the functions that a graphics API implements for them. */
#ifndef GR_LIB_EXTERNAL_EXTERNAL_H
#define GR_LIB_EXTERNAL_EXTERNAL_H

#include <cuda.h>
#include <grinterop/external.h>

#include "lib/external/import.h"
#include "lib/resource/resource_types.h"
#include "lib/sync/sync.h"

/* Exported memory, to send to another process. */
struct gr_memory_export {
    int fd;
    /* the device that owns the memory; the CUDA context may belong to a peer device */
    CUdevice device;
    /* the memory was created by cuMemCreate: import it by cuMemImportFromShareableHandle */
    bool vmm;
    size_t size; /* the size of the whole memory in bytes */
    bool dedicated;
    gr_external_part_desc part;
    gr_external_image_desc image; /* the image, if any: part.image points here */
};

/*
 * The functions that a graphics API implements for a resource in external memory. Each may be NULL.
 */
struct gr_external_kind {
    /*
     * Describes the object, such as "Vulkan buffer 0x12". NULL: the type of the handle is the
     * description.
     */
    void (*describe)(const gr_resource *resource, char *text, size_t size);
    /*
     * Frees the objects of the graphics API, before the struct is freed. CUDA may still use the
     * memory.
     */
    void (*end)(gr_resource *resource);

    /*
     * Has the meaning of on_thread() in struct gr_backend. NULL: any thread may use the resource.
     */
    bool (*on_thread)(const gr_resource *resource);
    gr_status (*refuse_thread)(const gr_resource *resource, const char *call);
    bool (*same_thread_rule)(const gr_resource *a, const gr_resource *b);

    /*
     * Has the meaning of park() in struct gr_backend, for mapped resources. Needed if on_thread()
     * can return false.
     */
    void (*park)(gr_resource *resource);
    void (*collect)(const gr_resource *resource);

    /*
     * For a graphics API that takes commands from the calling thread, such as OpenGL. Before a map,
     * end_use() makes the API signal the end of its work on the n resources. After a release,
     * begin_use() makes the API wait for CUDA. NULL if submits of the application contain the
     * signals and waits. Both functions record the error.
     */
    gr_status (*end_use)(gr_resource *const resources[], size_t n);
    gr_status (*begin_use)(gr_resource *const resources[], size_t n);

    /*
     * For resources with gr_sync.copies: enqueue the copy of the mapped part, after the waits of a
     * map and before the signals of a release. Record the error.
     */
    gr_status (*copy_in)(gr_resource *resource, CUstream stream);
    gr_status (*copy_out)(gr_resource *resource, CUstream stream);

    /* Whether begin_use() blocks the calling thread. NULL: it does not. */
    bool (*waits_in_thread)(const gr_resource *resource);

    /*
     * For sharing with another process: export the handle and description of the memory, and the
     * handle of a semaphore. The caller owns the descriptors. NULL if the graphics API cannot
     * export them.
     */
    gr_status (*export_memory)(const gr_resource *resource, struct gr_memory_export *memory);
    gr_status (*export_semaphore)(const gr_resource *resource, const gr_semaphore *semaphore,
                                  gr_semaphore_desc *info, const char *call);

    /*
     * Creates a timeline semaphore that export_semaphore() can export, for a ring of such
     * resources. NULL after recording an error.
     */
    gr_semaphore *(*create_semaphore)(const gr_resource *resource);

    /*
     * For a graphics API with begin_use(), and a ring that another process shares. own_pair() gives
     * n resources with one pair of semaphores a pair of exported timelines that no other resource
     * uses. False if that is impossible; the resources then keep their pair, and no error is
     * recorded. restore_pair() undoes it, and does nothing for other resources.
     */
    bool (*own_pair)(gr_resource *const resources[], size_t n, const char *call);
    void (*restore_pair)(gr_resource *resource, const char *call);
};

/* A resource in external memory. The struct of a graphics API begins with this struct. */
struct gr_external {
    gr_resource base;
    const struct gr_external_kind *kind;
    CUmipmappedArray mipmapped; /* the array of an image */
    struct gr_import *memory;
    size_t offset;
};

extern const struct gr_backend gr_external_backend;

/* Whether this thread may use a resource of this kind. `kind` may be NULL. */
static inline bool gr_external_on_thread(const struct gr_external_kind *kind,
                                         const gr_resource *resource)
{
    return !kind || !kind->on_thread || kind->on_thread(resource);
}

/* Returns GR_OK if this thread may use the resource, otherwise the recorded error. */
static inline gr_status gr_external_check_thread(const struct gr_external_kind *kind,
                                                 const gr_resource *resource, const char *call)
{
    return gr_external_on_thread(kind, resource) ? GR_OK : kind->refuse_thread(resource, call);
}

/*
 * Casts the resource to struct gr_external; NULL if it is not in external memory. Inline because
 * each map calls it many times.
 */
static inline struct gr_external *gr_external_of(const gr_resource *resource)
{
    return resource && resource->backend == &gr_external_backend ? (struct gr_external *)resource
                                                                 : NULL;
}

/* Returns the functions of the graphics API; NULL if the resource is not in external memory. */
static inline const struct gr_external_kind *gr_external_kind_of(const gr_resource *resource)
{
    const struct gr_external *external = gr_external_of(resource);
    return external ? external->kind : NULL;
}

#endif
