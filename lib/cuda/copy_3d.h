/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Fills in the driver's struct for copies of rows and slices. */
#ifndef GR_LIB_CUDA_COPY_3D_H
#define GR_LIB_CUDA_COPY_3D_H

#include <stdint.h>

#include "lib/cuda/driver.h"

/* One side of a copy: memory or an array. */
struct gr_copy_side {
    CUmemorytype type;
    CUdeviceptr at;     /* the address, also that of host memory, or the CUarray */
    size_t pitch, rows; /* in memory: the bytes from row to row, the rows from slice to slice */
    size_t first_slice; /* in an array: where the copy begins */
    size_t x, y;        /* in an array: the same, in bytes of a row and in rows */
};

static inline struct gr_copy_side gr_copy_array(CUarray array, size_t first_slice)
{
    return (struct gr_copy_side){.type = CU_MEMORYTYPE_ARRAY,
                                 .at = (CUdeviceptr)(uintptr_t)array,
                                 .first_slice = first_slice};
}

/* The fields of one side. The driver ignores those that do not belong to the memory type. */
#define GR_COPY_FIELDS(to, side)                                                                   \
    .to##MemoryType = (side).type, .to##Host = (void *)(uintptr_t)(side).at,                       \
    .to##Device = (side).at, .to##Array = (CUarray)(uintptr_t)(side).at,                           \
    .to##Pitch = (side).pitch, .to##Height = (side).rows, .to##XInBytes = (side).x,                \
    .to##Y = (side).y, .to##Z = (side).first_slice

static inline CUDA_MEMCPY3D gr_copy_3d(struct gr_copy_side to, struct gr_copy_side from,
                                       size_t row_bytes, size_t rows, size_t slices)
{
    return (CUDA_MEMCPY3D){GR_COPY_FIELDS(src, from), GR_COPY_FIELDS(dst, to),
                           .WidthInBytes = row_bytes, .Height = rows, .Depth = slices};
}

#endif
