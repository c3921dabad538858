/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The buffers and images that are parts of imported memory. */
#ifndef GR_LIB_EXTERNAL_MEMORY_PART_H
#define GR_LIB_EXTERNAL_MEMORY_PART_H

#include <cuda.h>
#include <grinterop/external.h>

/* Checks that the part lies within memory of `size` bytes, and that CUDA supports its image. */
gr_status gr_external_check_part(const gr_external_part_desc *part, size_t size, bool dedicated,
                                 CUexternalMemoryHandleType type, const char *call);

/* Returns the number of mip levels of a complete chain. */
unsigned gr_whole_chain(size_t width, size_t height, size_t depth);

/* Converts a checked description of an image to the driver's struct. */
void gr_external_array_desc(const gr_external_part_desc *part, unsigned flags,
                            CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc);

#endif
