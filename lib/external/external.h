/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Resources in external memory, and the operations that all their backends have in common. */
#ifndef GR_LIB_EXTERNAL_EXTERNAL_H
#define GR_LIB_EXTERNAL_EXTERNAL_H

#include <stdatomic.h>
#include <grinterop/external.h>

#include "lib/base/cuda_abi.h"
#include "lib/cuda/exportable.h"
#include "lib/resource/backend.h"
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
    size_t offset;                /* of the resource in the memory */
    gr_external_image_desc image; /* the image, if any */
};

/* A resource in external memory. The struct of a graphics API begins with this struct. */
struct gr_external {
    gr_resource base;
    CUmipmappedArray mipmapped;   /* the array of an image */
    gr_external_image_desc image; /* the description of an image that CUDA received */
    struct gr_import *memory;
    size_t offset;
};

/* Memory that another API than Vulkan exported, or that another process sent. */
extern const struct gr_backend gr_external_backend;

/*
 * Casts the resource to struct gr_external; NULL if it is not in external memory. Inline because
 * each map calls it many times.
 */
static inline struct gr_external *gr_external_of(const gr_resource *resource)
{
    return resource && resource->backend->is_external ? (struct gr_external *)resource : NULL;
}

/* Whether CUDA has its own memory, to and from which the bytes are copied. */
static inline bool gr_external_is_copied(const struct gr_external *resource)
{
    return resource->base.backend->transport & (GR_TRANSPORT_COPY | GR_TRANSPORT_PEER);
}

/* ---- Operations of struct gr_backend --------------------------------------------------------- */

/* The operations that all backends of external memory have in common. */
#define GR_EXTERNAL_OPERATIONS                                                                     \
    .is_external = true, .external_memory = gr_external_memory,                                    \
    .check_storage = gr_external_check_storage, .signal_in_place = gr_external_signal_in_place,    \
    .array = gr_external_array, .mipmapped_array = gr_external_mipmapped_array

CUexternalMemory gr_external_memory(const gr_resource *resource);
void gr_external_signal_in_place(const gr_resource *resource);
gr_status gr_external_array(const gr_resource *resource, unsigned level, unsigned layer,
                            CUarray *array);
gr_status gr_external_mipmapped_array(const gr_resource *resource, CUmipmappedArray *array);

/* Resources of a run have the same backend. */
size_t gr_external_run(gr_resource *const resources[], size_t n);

/* Checks only the state of the semaphores. The storage exists, since the import keeps it alive. */
gr_status gr_external_check_storage(gr_resource *const resources[], size_t n, CUstream stream);

/* A map waits for the semaphore of the graphics API, and a release signals the one of CUDA. */
gr_status gr_external_map(gr_resource *const resources[], size_t n, CUstream stream);

/*
 * The same, and a release, for memory with other users in CUDA. Other memory has a backend without
 * these calls, since each instruction of a map counts.
 */
gr_status gr_external_map_used(gr_resource *const resources[], size_t n, CUstream stream);
gr_status gr_external_unmap_used(gr_resource *const resources[], size_t n, CUstream stream);

/* For backends without on_thread(). */
void gr_external_collect(const gr_resource *resource);

/* Ends the CUDA objects, after the work that uses them. Any thread may call it. */
gr_status gr_external_unregister(gr_resource *resource);

/* The first step of destroy(), which then ends the objects of the graphics API. */
void gr_external_end(struct gr_external *resource);

/* ---- Memory ---------------------------------------------------------------------------------- */

/* An import of memory, reference-counted: each resource in the memory holds a reference. */
struct gr_import {
    atomic_uint holds;       /* the number of references */
    CUexternalMemory handle; /* NULL for memory that CUDA allocated, which one resource uses */
    CUmemGenericAllocationHandle allocation; /* the memory that CUDA allocated */
    CUdeviceptr ptr;                         /* the first byte of that memory */
    CUexternalMemoryHandleType type;
    size_t size;
    bool dedicated;
    const void *owner; /* of memory for copies: the graphics device, as in struct gr_ending */
    /*
     * For a part of a larger allocation: frees the part, but neither the memory nor the struct.
     * Such a part is never exported, because other resources use the rest of the memory. Otherwise
     * NULL.
     */
    void (*end_part)(struct gr_import *import, bool alive);
    /*
     * For memory with other users in CUDA, such as that of a tensor: begin_use() makes the stream
     * of a map wait for them, and end_use() registers the mapping as a use. The CUDA context is
     * current. Otherwise NULL. They are pointers so that static programs without tensors do not
     * contain them.
     */
    gr_status (*begin_use)(const struct gr_import *import, CUstream stream, bool writes);
    void (*end_use)(const struct gr_import *import, CUstream stream, bool writes);
};

/*
 * Imports memory whose description was checked. The caller gets the only reference, and still owns
 * the file descriptor. NULL after recording an error. The CUDA context must be current.
 */
struct gr_import *gr_import_memory(const gr_external_memory_desc *info);

/*
 * Like gr_import_memory(), but allocates at least `size` bytes on a device, with read and write
 * access for it and for the device of the current CUDA context.
 */
struct gr_import *gr_import_new(CUdevice device, size_t size);

/*
 * Like gr_import_new(), for memory that CUDA allocated in another process. `size` is the exported
 * size. The caller keeps the fd.
 */
struct gr_import *gr_import_vmm(CUdevice device, int fd, size_t size);

/* Exports memory of gr_import_new() as a file descriptor, which the caller owns. */
gr_status gr_import_export(const struct gr_import *import, int *fd);

/* Adds a reference. */
static inline void gr_import_hold(struct gr_import *import)
{
    atomic_fetch_add_explicit(&import->holds, 1, memory_order_relaxed);
}

/*
 * Drops one reference. `alive`: the CUDA context still exists, and is current. `import` may be
 * NULL.
 */
void gr_import_drop(struct gr_import *import, bool alive);

/* ---- Rules for memory and its parts ---------------------------------------------------------- */

/* Checks a description against the CUDA documentation; the message cites the rule. */
GR_API gr_status gr_external_check(const gr_external_memory_desc *info);

/* Converts a checked description to the driver's struct. */
void gr_external_handle_desc(const gr_external_memory_desc *info,
                             CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc);

/* Whether the handle is a file descriptor. */
GR_API bool gr_external_has_fd(CUexternalMemoryHandleType type);

/* Returns the name of a type, such as "OPAQUE_FD", or "unknown". The name is valid forever. */
const char *gr_external_type_name(CUexternalMemoryHandleType type);

/*
 * Records that the driver refused an import, with the meaning of the code for this type of handle
 * and the remedy.
 */
GR_API gr_status gr_external_refused(const gr_external_memory_desc *info, CUresult code);

/* Checks that the part lies within memory of `size` bytes, and that CUDA supports its image. */
gr_status gr_external_check_part(const gr_external_part_desc *part, size_t size, bool dedicated,
                                 CUexternalMemoryHandleType type);

/* Makes all checks of the memory, its part and the flags. */
gr_status gr_external_check_all(const gr_external_memory_desc *info, unsigned flags);

/* Returns the number of mip levels of a complete chain. */
unsigned gr_whole_chain(size_t width, size_t height, size_t depth);

/* Both convert a checked description of an image: into a gr_image_info, or a struct of CUDA. */
gr_image_info gr_external_image_info(const gr_external_image_desc *image);
void gr_external_array_desc(const gr_external_part_desc *part, unsigned flags,
                            CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc);

/* ---- Creation of resources ------------------------------------------------------------------- */

/* Allocates a zeroed struct of gr_external_backend. NULL after recording an error. */
struct gr_external *gr_external_new(void);

/*
 * Imports `info`, which names a part and was checked, and creates `resource` in that part. The
 * caller allocates and zeroes `resource`, and sets its backend. On success the resource owns the
 * caller's context reference. After an error, which is recorded, the caller keeps this reference.
 */
gr_status gr_external_make(struct gr_external *resource, const struct gr_context *context,
                           const gr_external_memory_desc *info, unsigned flags);

/*
 * Like gr_external_make(), for a checked part of memory that is imported already. The CUDA context
 * is current. On success the resource takes over the caller's reference to `memory`.
 */
gr_status gr_external_make_in(struct gr_external *resource, struct gr_import *memory,
                              const struct gr_context *context, const gr_external_part_desc *part,
                              unsigned flags);

/*
 * Like gr_external_make(), for a part to which CUDA already has access: the caller has set
 * resource->ptr for a buffer, or resource->mipmapped for an image. The resource takes over the
 * reference to `memory`, which owns that object. Cannot fail.
 */
void gr_external_make_mapped(struct gr_external *resource, const struct gr_context *context,
                             struct gr_import *memory, const gr_external_part_desc *part,
                             unsigned flags);

/* Like gr_external_make_mapped(), for a buffer in memory that CUDA allocated. */
void gr_external_make_buffer(struct gr_external *resource, const struct gr_context *context,
                             struct gr_import *memory, size_t size, unsigned flags);

#endif
