/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Making a resource in external memory: what vk/, gl/ and share/ build on. */
#ifndef GR_LIB_EXTERNAL_MAKE_RESOURCE_H
#define GR_LIB_EXTERNAL_MAKE_RESOURCE_H

#include <cuda.h>

#include "lib/external/external.h"

/*
 * Imports `info`, whose part is given, with the CUDA context and makes `resource`, which is zeroed
 * memory of the caller's but for `kind`, a resource in it. On success it owns the context's hold;
 * after an error, which is recorded, the caller still has both.
 */
gr_status gr_external_make(struct gr_external *resource, const struct gr_context *context,
                           const gr_external_memory_desc *info, unsigned flags, const char *call);

/*
 * Likewise a buffer in new memory of CUDA's own on a device that the context's reaches, or in
 * another process's when `import` is one: that fd stays the caller's, and import->size is what was
 * exported.
 */
gr_status gr_external_make_vmm(struct gr_external *resource, const struct gr_context *context,
                               CUdevice device, size_t size, const struct gr_memory_export *import,
                               unsigned flags, const char *call);

/* Likewise a buffer in a part of memory of CUDA's own, whose hold it takes. It cannot fail. */
void gr_external_make_part(struct gr_external *resource, const struct gr_context *context,
                           struct gr_import *part, size_t size, unsigned flags);

#endif
