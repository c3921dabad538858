/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Mapped images, for other files of the library. */
#ifndef GR_LIB_RESOURCE_IMAGE_H
#define GR_LIB_RESOURCE_IMAGE_H

#include <grinterop/image.h>

#include "lib/resource/resource_types.h"

/* Refuses NULL, buffers whose mapping has ended, and buffers that are not images. */
gr_status gr_image_check(const gr_buffer *buffer, const char *call);

/* Refuses a level or layer that does not exist. */
gr_status gr_image_check_range(const gr_resource *resource, unsigned level, unsigned layer,
                               const char *call);

/* Checks both the mapping and the range, for a mapped image. */
gr_status gr_image_check_part(const gr_buffer *buffer, unsigned level, unsigned layer,
                              const char *call);

/* Returns the extent of an existing level, computed from the extent of level 0. */
static inline size_t gr_level_extent(size_t extent, unsigned level)
{
    extent >>= level;
    return extent ? extent : 1;
}

/* Refuses the texels of a packed or compressed format, which are no tensors. */
gr_status gr_image_refuse_packed(unsigned format, const char *call);

/* Describes the image before it is mapped. False if the description is known only after a map. */
bool gr_image_info_if_known(const gr_resource *resource, gr_image_info *info);

/* Describes the mapped image. The CUDA context is current. */
gr_status gr_image_query(const gr_buffer *buffer, gr_image_info *info);

#endif
