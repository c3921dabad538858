/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Creates resources in external memory, for vk/, gl/ and lib/peer. */
#ifndef GR_LIB_EXTERNAL_MAKE_RESOURCE_H
#define GR_LIB_EXTERNAL_MAKE_RESOURCE_H

#include <cuda.h>

#include "lib/external/external.h"

/* Allocates a zeroed struct of gr_external_backend. NULL after recording an error. */
struct gr_external *gr_external_new(const char *call);

/*
 * Imports `info`, which names a part, and creates `resource` in that part. The caller allocates and
 * zeroes `resource`, and sets its backend. On success the resource owns the caller's context
 * reference. After an error, which is recorded, the caller keeps this reference.
 */
gr_status gr_external_make(struct gr_external *resource, const struct gr_context *context,
                           const gr_external_memory_desc *info, unsigned flags, const char *call);

/*
 * Like gr_external_make(), for a buffer in memory that CUDA allocated in another process, on
 * `device`, which the device of the context must be able to access. The caller keeps import->fd;
 * import->size is the exported size.
 */
gr_status gr_external_make_vmm(struct gr_external *resource, const struct gr_context *context,
                               CUdevice device, size_t size, const struct gr_memory_export *import,
                               unsigned flags, const char *call);

/*
 * Like gr_external_make(), for a resource whose bytes are copied. The caller has set resource->ptr
 * for a buffer, or resource->mipmapped for an image. `copy` owns that object, and the resource
 * takes over the reference to `copy`. Cannot fail.
 */
void gr_external_make_copied(struct gr_external *resource, const struct gr_context *context,
                             struct gr_import *copy, const gr_external_part_desc *part,
                             unsigned flags);

/*
 * Like gr_external_make(), for a buffer in `part`. The buffer takes over the reference to `part`.
 * Cannot fail.
 */
void gr_external_make_part(struct gr_external *resource, const struct gr_context *context,
                           struct gr_import *part, size_t size, unsigned flags);

#endif
