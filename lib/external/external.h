/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources in external memory: the import that several may share, and what vk/ and gl/ build on.
 */
#ifndef GR_LIB_EXTERNAL_EXTERNAL_H
#define GR_LIB_EXTERNAL_EXTERNAL_H

#include <grinterop/external.h>

#include "lib/resource/resource.h"
#include "lib/sync/acquire_release.h"
#include "lib/external/vmm.h"

/* Memory as it was imported. Counted: each resource in it holds it. */
struct gr_import {
    unsigned holds;          /* changed atomically */
    CUexternalMemory handle; /* NULL where `vmm` is used */
    struct gr_vmm vmm;       /* memory of CUDA's own, which has one resource, all of it or less */
    CUexternalMemoryHandleType type;
    size_t size;
    bool dedicated;
};

/* Memory on its way to another process. */
struct gr_memory_export {
    int fd;
    bool vmm;    /* made by cuMemCreate, so imported by cuMemImportFromShareableHandle */
    size_t size; /* of the whole memory, in bytes */
    bool dedicated;
    gr_external_part part;
    gr_external_image image; /* where part.image points for images */
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

    /*
     * A graphics API that takes commands from its thread, as OpenGL does: signals that it has come
     * here with these n resources of its kind, before a map; and waits for what was released, after
     * a release. NULL where the application's submits do that. Record the error.
     */
    gr_status (*end_use)(gr_resource *const resources[], size_t n);
    gr_status (*begin_use)(gr_resource *const resources[], size_t n);

    /*
     * For another process: the memory's handle, with its description, and the semaphores'. The
     * descriptors are the caller's. NULL where that cannot be.
     */
    gr_status (*export_memory)(const gr_resource *resource, struct gr_memory_export *memory);
    gr_status (*export_semaphore)(const gr_semaphore *semaphore, gr_semaphore_info *info);

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
    struct gr_import *memory;
    size_t offset;
    CUdeviceptr ptr;            /* of a buffer */
    CUmipmappedArray mipmapped; /* of an image */
    struct gr_sync sync;
    bool in_ring; /* a ring begins and ends the graphics API's uses: map and release do not */
};

extern const struct gr_backend gr_external_backend;

/* GR_OK where this thread may use a resource of that kind; else the recorded error. */
static inline gr_status gr_external_check_thread(const struct gr_external_kind *kind,
                                                 const gr_resource *resource, const char *call)
{
    return !kind || !kind->on_thread || kind->on_thread(resource)
               ? GR_OK
               : kind->refuse_thread(resource, call);
}

/*
 * Imports `info` with the CUDA context and makes `resource`, which is zeroed memory of the caller's
 * but for `kind`, a resource in it. On success it owns the context's hold; after an error, which is
 * recorded, the caller still has both.
 */
gr_status gr_external_make(struct gr_external *resource, const struct gr_context *context,
                           const gr_external_memory_info *info, unsigned flags, const char *call);

/*
 * Likewise a buffer in new memory of CUDA's own, or in another process's when `import` is one: that
 * fd stays the caller's, and import->size is what was exported.
 */
gr_status gr_external_make_vmm(struct gr_external *resource, const struct gr_context *context,
                               size_t size, const struct gr_memory_export *import, unsigned flags,
                               const char *call);

/*
 * The resource as one in external memory; NULL if it is none. Here, since each map asks it many
 * times.
 */
static inline struct gr_external *gr_external_of(const gr_resource *resource)
{
    return resource && resource->backend == &gr_external_backend ? (struct gr_external *)resource
                                                                 : NULL;
}

/* The points of a resource that is known to be in external memory. */
static inline struct gr_sync *gr_sync_of(const gr_resource *resource)
{
    return &((struct gr_external *)resource)->sync;
}

/* ---- The rules of the handle types (memory_rules.c) ------------------------------------------ */

/* Whether the description obeys the driver's documentation; the message cites the rule. */
gr_status gr_external_check(const gr_external_memory_info *info, const char *call);

/* Whether the part lies in memory of `size` bytes, and its image is one that CUDA has. */
gr_status gr_external_check_part(const gr_external_part *part, size_t size, bool dedicated,
                                 CUexternalMemoryHandleType type, const char *call);

/* The number of mip levels down to a single texel. */
unsigned gr_whole_chain(size_t width, size_t height, size_t depth);

/* The driver's forms of descriptions that were checked. */
void gr_external_handle_desc(const gr_external_memory_info *info,
                             CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc);
void gr_external_array_desc(const gr_external_part *part, unsigned flags,
                            CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc);

/* Whether the handle is a file descriptor. */
bool gr_external_has_fd(CUexternalMemoryHandleType type);

/* "OPAQUE_FD"; a number's text is "unknown". Static. */
const char *gr_external_type_name(CUexternalMemoryHandleType type);

/*
 * Records the driver's refusal of an import: what the code means for this handle type, and the way
 * out.
 */
gr_status gr_external_refused(const gr_external_memory_info *info, CUresult code, const char *call);

#endif
