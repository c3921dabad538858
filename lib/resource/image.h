/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Mapped images, for other files of the library. */
#ifndef GR_LIB_RESOURCE_IMAGE_H
#define GR_LIB_RESOURCE_IMAGE_H

#include <grinterop/image.h>

#include "lib/cuda/array_format.h"
#include "lib/cuda/copy_3d.h"
#include "lib/resource/checks.h"
#include "lib/resource/resource_types.h"

/* Returns the extent of an existing level, computed from the extent of level 0. */
static inline size_t gr_level_extent(size_t extent, unsigned level)
{
    extent >>= level;
    return extent ? extent : 1;
}

/*
 * Refuses slices, or layers from an existing one on, that the level does not have. Replaces a depth
 * of 0 by the number of slices from z on; that of images without slices becomes 1.
 */
gr_status gr_image_check_slices(const gr_resource *resource, unsigned level, unsigned z,
                                unsigned *depth, unsigned layer, unsigned layers);

/*
 * Refuses a rectangle that the level of the region does not have. Replaces a width and height of 0
 * by what extends the rectangle to the edge.
 */
gr_status gr_image_check_rectangle(const gr_resource *resource, struct gr_region *region);

/* Refuses an image of compressed blocks, which are no tensor. */
gr_status gr_image_refuse_compressed(unsigned format);

/* Describes the image before it is mapped. False if the description is known only after a map. */
bool gr_image_info_if_known(const gr_resource *resource, gr_image_info *info);

/* Describes the mapped image. The CUDA context is current. */
gr_status gr_image_query(const gr_buffer *buffer, gr_image_info *info);

/* ---- Linear memory, and the copies of transports that copy ----------------------------------- */

/* The maximum number of levels of an image. */
#define GR_MOST_LEVELS 32

/* One layer of a level. Rows are rows of texels or of compressed blocks, and have no gaps. */
struct gr_level {
    size_t row; /* bytes */
    size_t rows, slices;
};

struct gr_level gr_level_of(const gr_image_info *image, struct gr_element element, unsigned level);

/*
 * Lays out the levels one behind the other, each with its layers. Returns the size in bytes;
 * SIZE_MAX after an overflow.
 */
size_t gr_lay_out(const gr_image_info *image, struct gr_element element,
                  size_t offsets[GR_MOST_LEVELS]);

/* Returns GR_OK, or records that the copy of the resource failed. */
gr_status gr_copy_check(CUresult result, const char *driver_call, const gr_resource *resource);

/*
 * The side of a copy in linear memory. CUDA finds out from the address whether it is on the host.
 */
static inline struct gr_copy_side gr_copy_linear(CUdeviceptr at, struct gr_level level)
{
    return (struct gr_copy_side){
        .type = CU_MEMORYTYPE_UNIFIED, .at = at, .pitch = level.row, .rows = level.rows};
}

/* Copies a level of an image between an array and another one, or linear memory. */
gr_status gr_copy_level(const gr_resource *resource, struct gr_copy_side to,
                        struct gr_copy_side from, struct gr_level level, CUstream stream);

/* Returns the array of a level. */
gr_status gr_level_array(CUmipmappedArray mipmapped, unsigned level, CUarray *array);

#endif
