/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Images of the copy transport: CUDA arrays, and their texels in staging memory. */
#ifndef GR_VK_COPY_IMAGE_H
#define GR_VK_COPY_IMAGE_H

#include <cuda.h>
#include <grinterop/external.h>
#include <grinterop/vk.h>

/* The maximum number of mip levels of an image. */
#define VK_COPY_MOST_LEVELS 32

/* A level in staging memory: rows, slices and layers follow each other without gaps. */
struct vk_copy_level {
    size_t offset, row; /* bytes */
    size_t rows;        /* of texels or of compressed blocks */
    VkExtent3D extent;
    CUarray array; /* in CUDA */
};

/* Level 0 is first. */
struct vk_copy_image {
    unsigned levels, layers;
    bool is_3d;
    struct vk_copy_level level[VK_COPY_MOST_LEVELS];
};

/* Lays out the levels, and returns the size of all texels in bytes; SIZE_MAX after an overflow. */
size_t vk_copy_image_layout(struct vk_copy_image *image, const gr_external_image_desc *desc);

/* Creates the arrays in *mipmapped. The CUDA context is current. */
gr_status vk_copy_image_allocate(struct vk_copy_image *image, const gr_external_image_desc *desc,
                                 unsigned flags, CUmipmappedArray *mipmapped, const char *call);

/*
 * Enqueues the copies of all texels between the arrays and host memory. `peer`: device memory, at
 * the address `host`.
 */
CUresult vk_copy_image_move(const struct vk_copy_image *image, unsigned char *host, bool peer,
                            bool to_arrays, CUstream stream);

#endif
