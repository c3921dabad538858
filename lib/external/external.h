/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Resources in external memory, and the operations that all their backends have in common. */
#ifndef GR_LIB_EXTERNAL_EXTERNAL_H
#define GR_LIB_EXTERNAL_EXTERNAL_H

#include <cuda.h>
#include <grinterop/external.h>

#include "lib/external/import.h"
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
    gr_external_part_desc part;
    gr_external_image_desc image; /* the image, if any: part.image points here */
};

/* A resource in external memory. The struct of a graphics API begins with this struct. */
struct gr_external {
    gr_resource base;
    CUmipmappedArray mipmapped; /* the array of an image */
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
    .describe_wait = gr_external_describe_wait, .array = gr_external_array,                        \
    .mipmapped_array = gr_external_mipmapped_array

CUexternalMemory gr_external_memory(const gr_resource *resource);
void gr_external_signal_in_place(const gr_resource *resource);
void gr_external_describe_wait(const gr_resource *resource, char *text, size_t size);
gr_status gr_external_array(const gr_resource *resource, unsigned level, unsigned layer,
                            CUarray *array);
gr_status gr_external_mipmapped_array(const gr_resource *resource, CUmipmappedArray *array,
                                      const char *call);

/* Resources of a run have the same backend. */
size_t gr_external_run(gr_resource *const resources[], size_t n);

/* Checks only the state of the semaphores. The storage exists, since the import keeps it alive. */
gr_status gr_external_check_storage(gr_resource *const resources[], size_t n, const char *call);

/* A map waits for the semaphore of the graphics API, and a release signals the one of CUDA. */
gr_status gr_external_map(gr_resource *const resources[], size_t n, CUstream stream);

/* For backends without on_thread(). */
void gr_external_collect(const gr_resource *resource);

/* Ends the CUDA objects, after the work that uses them. Any thread may call it. */
gr_status gr_external_unregister(gr_resource *resource);

/* The first step of destroy(), which then ends the objects of the graphics API. */
void gr_external_end(struct gr_external *resource);

#endif
