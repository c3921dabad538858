/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What the core's files share about mapped images. */
#ifndef GR_LIB_IMAGE_IMAGE_H
#define GR_LIB_IMAGE_IMAGE_H

#include <grinterop/image.h>

#include "lib/resource_types.h"

/* Refuses NULL, a buffer whose mapping has ended, and one that is no image. */
gr_status gr_image_check(const gr_buffer *buffer, const char *call);

/* Refuses a level or layer that the resource, an image, does not have. */
gr_status gr_image_check_range(const gr_resource *resource, unsigned level, unsigned layer,
                               const char *call);

/* Both for a mapped image. */
gr_status gr_image_check_part(const gr_buffer *buffer, unsigned level, unsigned layer,
                              const char *call);

/* How much of an extent of level 0 a level has; it exists. */
static inline size_t gr_level_extent(size_t extent, unsigned level)
{
    extent >>= level;
    return extent ? extent : 1;
}

/* The image's description before it is mapped. False: only a map can tell. */
bool gr_image_foresee(const gr_resource *resource, gr_image_info *info);

/* The mapped image's description; the CUDA context is current. */
gr_status gr_image_query(const gr_buffer *buffer, gr_image_info *info);

#endif
