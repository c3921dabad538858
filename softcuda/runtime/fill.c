/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Sets memory to a byte value. */
#include "softcuda/runtime/copy.h"

#include <stdint.h>

/* Fills `height` rows of `width` bytes. An empty range is not an error. */
static CUresult fill(void *memory, size_t pitch, int value, size_t width, size_t height,
                     rt_order order)
{
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)memory;
    unsigned char byte = (unsigned char)value;
    if (width == 0 || height == 0)
        return CUDA_SUCCESS;
    if (height == 1)
        return order.queued ? cuMemsetD8Async(at, byte, width, order.stream)
                            : RT_DEFAULT_STREAM(cuMemsetD8_v2, (at, byte, width));
    SOFT_FAIL_IF(width > pitch, CUDA_ERROR_INVALID_VALUE);
    return order.queued ? cuMemsetD2D8Async(at, pitch, byte, width, height, order.stream)
                        : RT_DEFAULT_STREAM(cuMemsetD2D8_v2, (at, pitch, byte, width, height));
}

RT_API_both(cudaMemset, (void *devPtr, int value, size_t count),
            fill(devPtr, count, value, count, 1, order))

RT_API_both(cudaMemset2D, (void *devPtr, size_t pitch, int value, size_t width, size_t height),
            fill(devPtr, pitch, value, width, height, order))

/* Fills a box. Its slices are `ysize` rows apart in memory. */
static CUresult fill_3d(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                        rt_order order)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t z = 0; z < extent.depth && result == CUDA_SUCCESS; z++)
        result = fill((unsigned char *)to.ptr + z * to.pitch * to.ysize, to.pitch, value,
                      extent.width, extent.height, order);
    return result;
}

RT_API_both(cudaMemset3D,
            (struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent),
            fill_3d(pitchedDevPtr, value, extent, order))
