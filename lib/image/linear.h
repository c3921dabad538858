/* SPDX-License-Identifier: Apache-2.0 */
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
 * Puts the copy back into the image, unless the resource is read-only. The CUDA context is current.
 */
gr_status gr_linear_write_back(gr_buffer *buffer, CUstream stream, const char *call);

/* Frees the linear memory when the registration is over, as gr_objects_free() does. */
void gr_linear_free(gr_resource *resource, bool alive);

#endif
