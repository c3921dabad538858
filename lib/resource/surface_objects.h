/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The surface and texture objects of a mapping, from creation to destruction. */
#ifndef GR_LIB_RESOURCE_SURFACE_OBJECTS_H
#define GR_LIB_RESOURCE_SURFACE_OBJECTS_H

#include "lib/resource/resource_types.h"

enum gr_object_kind { GR_OBJECT_SURFACE, GR_OBJECT_TEXTURE };

/* Returns the mapping's surface for a level and layer, or 0 if there is none yet. */
CUsurfObject gr_objects_find_surface(const gr_buffer *buffer, unsigned level, unsigned layer);

/*
 * Reserves memory for one more object of the mapping, so that gr_objects_add() cannot fail. The
 * CUDA context is current.
 */
gr_status gr_objects_reserve(gr_buffer *buffer, const char *call);
void gr_objects_add(gr_buffer *buffer, enum gr_object_kind kind, unsigned long long handle,
                    unsigned level, unsigned layer);

/*
 * Retires the objects of the mapping: they are destroyed when the stream has finished its work so
 * far. Kernels may use them until then, but the driver destroys objects at once. The CUDA context
 * is current, unless `alive` is false.
 */
void gr_objects_retire(gr_buffer *buffer, CUstream stream, bool alive);

/*
 * Destroys all remaining objects after the registration has ended. If the CUDA context was
 * destroyed (`alive` is false), only frees memory.
 */
void gr_objects_free(gr_resource *resource, bool alive);

#endif
