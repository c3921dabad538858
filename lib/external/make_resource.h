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
