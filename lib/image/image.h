/* SPDX-License-Identifier: Apache-2.0 */
/* What the core's files share about mapped images. */
#ifndef GR_LIB_IMAGE_IMAGE_H
#define GR_LIB_IMAGE_IMAGE_H

#include <grinterop/image.h>

#include "lib/resource/resource.h"

/* Whether the buffer is its resource's present mapping. */
static inline bool gr_buffer_is_live(const gr_buffer *buffer)
{
    return buffer->resource->mapped == buffer;
}

/* Refuses NULL, a buffer whose mapping has ended, and one that is no image. */
gr_status gr_image_check(const gr_buffer *buffer, const char *call);

/* Refuses a level or layer that the resource, an image, does not have. */
gr_status gr_image_check_range(const gr_resource *resource, unsigned level, unsigned layer,
                               const char *call);

/* Both for a mapped image. */
gr_status gr_image_check_part(const gr_buffer *buffer, unsigned level, unsigned layer,
                              const char *call);

/* The mapped image's description; the CUDA context is current. */
gr_status gr_image_query(const gr_buffer *buffer, gr_image_info *info);

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

/* ---- Surface and texture objects (object_life.c) --------------------------------------------- */

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
 * since the driver destroys at once and kernels may still use them. The CUDA context is current.
 */
void gr_objects_retire(gr_buffer *buffer, CUstream stream);

/*
 * Destroys all that is left, once the registration is over; `alive` says whether the CUDA context
 * still is, without which there is only memory to free.
 */
void gr_objects_free(gr_resource *resource, bool alive);

#endif
