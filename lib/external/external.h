/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Resources in external memory, and what a graphics API adds to them. */
#ifndef GR_LIB_EXTERNAL_EXTERNAL_H
#define GR_LIB_EXTERNAL_EXTERNAL_H

#include <cuda.h>
#include <grinterop/external.h>

#include "lib/external/import.h"
#include "lib/resource_types.h"
#include "lib/sync/sync.h"

/* Memory on its way to another process. */
struct gr_memory_export {
    int fd;
    CUdevice device; /* that has it; the resource's CUDA context may be of one that reaches it */
    bool vmm;        /* made by cuMemCreate, so imported by cuMemImportFromShareableHandle */
    size_t size;     /* of the whole memory, in bytes */
    bool dedicated;
    gr_external_part_desc part;
    gr_external_image_desc image; /* where part.image points for images */
};

/* What a graphics API adds to a resource in external memory; each may be NULL. */
struct gr_external_kind {
    /* "Vulkan buffer 0x12"; by default the handle's type. */
    void (*describe)(const gr_resource *resource, char *text, size_t size);
    /* Ends what it added, before the struct is freed. The CUDA side may still be retired. */
    void (*end)(gr_resource *resource);

    /* Whether this thread may use it; NULL: any may. All three as in struct gr_backend. */
    bool (*on_thread)(const gr_resource *resource);
    gr_status (*refuse_thread)(const gr_resource *resource, const char *call);
    bool (*same_thread_rule)(const gr_resource *a, const gr_resource *b);

    /* Where on_thread() may say no: for a resource that is mapped. Both as in struct gr_backend. */
    void (*park)(gr_resource *resource);
    void (*collect)(const gr_resource *resource);

    /*
     * A graphics API that takes commands from its thread, as OpenGL does: signals that it has come
     * here with these n resources of its kind, before a map; and waits for what was released, after
     * a release. NULL where the application's submits do that. Record the error.
     */
    gr_status (*end_use)(gr_resource *const resources[], size_t n);
    gr_status (*begin_use)(gr_resource *const resources[], size_t n);

    /* Whether begin_use() waits in the thread; NULL: no. */
    bool (*waits_in_thread)(const gr_resource *resource);

    /*
     * For another process: the memory's handle, with its description, and that of a semaphore of
     * such a resource. The descriptors are the caller's. NULL where that cannot be.
     */
    gr_status (*export_memory)(const gr_resource *resource, struct gr_memory_export *memory);
    gr_status (*export_semaphore)(const gr_resource *resource, const gr_semaphore *semaphore,
                                  gr_semaphore_desc *info, const char *call);

    /*
     * A new timeline semaphore that can be exported so, for a ring of such resources; NULL, with
     * the error.
     */
    gr_semaphore *(*create_semaphore)(const gr_resource *resource);
};

/* A resource in external memory; the struct of a graphics API begins with one. */
struct gr_external {
    gr_resource base;
    const struct gr_external_kind *kind;
    bool in_ring;    /* a ring begins and ends the graphics API's uses: map and release do not */
    CUdeviceptr ptr; /* of a buffer */
    struct gr_sync sync;
    CUmipmappedArray mipmapped; /* of an image */
    struct gr_import *memory;
    size_t offset;
};

extern const struct gr_backend gr_external_backend;

/* Whether this thread may use a resource of that kind, which may be NULL. */
static inline bool gr_external_on_thread(const struct gr_external_kind *kind,
                                         const gr_resource *resource)
{
    return !kind || !kind->on_thread || kind->on_thread(resource);
}

/* GR_OK where it may; else the recorded error. */
static inline gr_status gr_external_check_thread(const struct gr_external_kind *kind,
                                                 const gr_resource *resource, const char *call)
{
    return gr_external_on_thread(kind, resource) ? GR_OK : kind->refuse_thread(resource, call);
}

/*
 * The resource as one in external memory; NULL if it is none. Here, since each map asks it many
 * times.
 */
static inline struct gr_external *gr_external_of(const gr_resource *resource)
{
    return resource && resource->backend == &gr_external_backend ? (struct gr_external *)resource
                                                                 : NULL;
}

#endif
