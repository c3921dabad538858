/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The surface and texture objects of a mapping, from their making to their end. */
#ifndef GR_LIB_IMAGE_OBJECT_LIFE_H
#define GR_LIB_IMAGE_OBJECT_LIFE_H

#include "lib/resource_types.h"

enum gr_object_kind { GR_OBJECT_SURFACE, GR_OBJECT_TEXTURE };

/* The mapping's surface of a level and layer, if it has one already; 0 otherwise. */
CUsurfObject gr_objects_find_surface(const gr_buffer *buffer, unsigned level, unsigned layer);

/*
 * Makes room for one more object of the mapping, which gr_objects_add() then cannot fail to note.
 * The CUDA context is current.
 */
gr_status gr_objects_reserve(gr_buffer *buffer, const char *call);
void gr_objects_add(gr_buffer *buffer, enum gr_object_kind kind, unsigned long long handle,
                    unsigned level, unsigned layer);

/*
 * Ends the mapping's objects: they are destroyed when the stream has done what it was given so far,
 * since the driver destroys at once and kernels may still use them. The CUDA context is current,
 * or not `alive` any more.
 */
void gr_objects_retire(gr_buffer *buffer, CUstream stream, bool alive);

/*
 * Destroys all that is left, once the registration is over; `alive` says whether the CUDA context
 * still is, without which there is only memory to free.
 */
void gr_objects_free(gr_resource *resource, bool alive);

#endif
