/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Linear memory that holds a copy of one level and layer of a mapped image. */
#ifndef GR_LIB_RESOURCE_IMAGE_LINEAR_H
#define GR_LIB_RESOURCE_IMAGE_LINEAR_H

#include "lib/resource/resource_types.h"

/*
 * Allocates linear memory for one level and layer of the mapped image. Copies the texels into the
 * memory, unless they are discarded.
 */
gr_status gr_linear_make(gr_buffer *buffer, unsigned level, unsigned layer, const char *call);

/*
 * Prepares a map that gr_linear_make() will follow: checks as much as possible, and allocates the
 * memory.
 */
gr_status gr_linear_prepare(gr_resource *resource, unsigned level, const char *call);

/*
 * Copies the memory back to the image, unless the resource is read-only. The CUDA context is
 * current.
 */
gr_status gr_linear_write_back(gr_buffer *buffer, CUstream stream, const char *call);

/*
 * Lends at least `bytes` of the resource's staging memory for work in the stream; the stream waits
 * for the previous use. The caller marks the end of the work in resource->staging.work. The
 * resource must not be mapped by gr_map_linear(). The CUDA context is current.
 */
gr_status gr_linear_borrow(gr_resource *resource, size_t bytes, CUstream stream,
                           CUdeviceptr *memory, const char *call);

/* Returns the pitch in linear memory for rows of this many bytes. */
size_t gr_linear_pitch(size_t row_bytes);

/* Frees the linear memory after the registration has ended, like gr_objects_free(). */
void gr_linear_free(gr_resource *resource, bool alive);

#endif
