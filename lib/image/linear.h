/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Linear memory that stands for one level and layer of a mapped image. */
#ifndef GR_LIB_IMAGE_LINEAR_H
#define GR_LIB_IMAGE_LINEAR_H

#include "lib/resource_types.h"

/*
 * Gives the mapped image linear memory for one level and layer and, unless it is discarded, its
 * bytes. The CUDA context is current.
 */
gr_status gr_linear_make(gr_buffer *buffer, unsigned level, unsigned layer, const char *call);

/*
 * Before a map that gr_linear_make() is to follow: what can refuse does so now, as far as the image
 * is known by then, and the memory is there.
 */
gr_status gr_linear_prepare(gr_resource *resource, unsigned level, const char *call);

/*
 * Puts the copy back into the image, unless the resource is read-only. The CUDA context is current.
 */
gr_status gr_linear_write_back(gr_buffer *buffer, CUstream stream, const char *call);

/*
 * Borrows the resource's staging memory, of at least `bytes`, for work on the stream, which waits
 * for its last use; and marks the end of that work. The resource is not mapped by gr_map_linear().
 * The CUDA context is current.
 */
gr_status gr_linear_borrow(gr_resource *resource, size_t bytes, CUstream stream,
                           CUdeviceptr *memory, const char *call);
gr_status gr_linear_give_back(gr_resource *resource, CUstream stream, const char *call);

/* Rows of so many bytes, and the bytes from one to the next in such memory. */
size_t gr_linear_pitch(size_t row_bytes);

/* Frees the linear memory when the registration is over, as gr_objects_free() does. */
void gr_linear_free(gr_resource *resource, bool alive);

#endif
