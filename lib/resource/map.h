/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What a call wants from resources: their mappings on a stream. gr_map*(), gr_publish(),
 * gr_fetch*() and the acquires of a ring all check a use, map it, work and end it.
 */
#ifndef GR_LIB_RESOURCE_MAP_H
#define GR_LIB_RESOURCE_MAP_H

#include "lib/resource/resource_types.h"

struct gr_use {
    gr_resource *const *resources;
    size_t n; /* at least 1 */
    CUstream stream;
    const gr_map_options *options; /* copied by GR_TAKE, or NULL */
    /*
     * All that the map has to move if the resource is one image, to arrays or to the linear memory
     * of its backend. Or NULL.
     */
    const struct gr_region *region;
    gr_buffer **buffers; /* gr_use_map() writes the n mappings here */
    /* the library or a ring holds the resources, or the caller's references were checked */
    bool held;
    bool here; /* the caller has checked that the graphics API can use them on this thread */
    /* written by gr_use_check(): the resources are one run (backend.h), apart from its length */
    bool one_run;
};

/*
 * Makes all checks that need no work on the stream, in this order: the stream, the resources,
 * their CUDA contexts, the access, earlier mappings, the thread, the storage, which is registered
 * again if it was replaced and the resource follows it, and the stream's CUDA context. Makes that
 * of the resources current for the rest of the call; *entered as for gr_context_enter(). After an
 * error nothing else has changed.
 */
gr_status gr_use_check(struct gr_use *use, gr_entered *entered);

/* Maps the resources of a checked use, whose CUDA context is current: all or none. */
gr_status gr_use_map(const struct gr_use *use);

/* Checks and maps. */
gr_status gr_use_begin(struct gr_use *use);

#endif
