/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copies from or to arrays: the checks, and the entry points of linear copies. */
#include "softcuda/driver/image/array.h"
#include "softcuda/driver/memory/copy.h"

#include <stdatomic.h>

CUresult copy_find_array(CUarray handle, const size_t at[3], const size_t extent[3],
                         copy_side *side)
{
    SOFT_FAIL_IF(!handle, CUDA_ERROR_INVALID_VALUE);
    const soft_array *array = soft_array_get(handle);
    SOFT_FAIL_IF(!array, CUDA_ERROR_INVALID_HANDLE);
    if (!atomic_load(&array->mapped)) {
        soft_log(SOFT_WARN, "a copy from or to %s, which is not mapped", array->what);
        return CUDA_ERROR_NOT_MAPPED;
    }
    const size_t size[3] = {array->width * array->element, array->height, array->depth};
    for (int i = 0; i < 3; i++)
        if (at[i] > size[i] || extent[i] > size[i] - at[i])
            return CUDA_ERROR_INVALID_VALUE;
    SOFT_FAIL_IF(at[0] % array->element != 0 || extent[0] % array->element != 0,
                 CUDA_ERROR_INVALID_VALUE);
    *side = (copy_side){
        .address = array->place.base + at[2] * array->place.slice_pitch +
                   at[1] * array->place.row_pitch + at[0],
        .pitch = array->place.row_pitch,
        .slice = array->place.slice_pitch,
        .place = COPY_DEVICE,
    };
    return CUDA_SUCCESS;
}

SOFT_API_ptds(cuMemcpyDtoA_v2,
              (CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount),
              (dstArray, dstOffset, srcDevice, ByteCount))
{
    return copy_linear(in_array(dstArray, dstOffset), in_device(srcDevice), ByteCount, NULL, false);
}

SOFT_API_ptds(cuMemcpyAtoD_v2,
              (CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount),
              (dstDevice, srcArray, srcOffset, ByteCount))
{
    return copy_linear(in_device(dstDevice), in_array(srcArray, srcOffset), ByteCount, NULL, false);
}

SOFT_API_both(cuMemcpyHtoA_v2, cuMemcpyHtoAAsync_v2,
              (CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount),
              copy_linear(in_array(dstArray, dstOffset), in_host(srcHost), ByteCount, stream,
                          asynchronous))

SOFT_API_both(cuMemcpyAtoH_v2, cuMemcpyAtoHAsync_v2,
              (void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount),
              copy_linear(in_host(dstHost), in_array(srcArray, srcOffset), ByteCount, stream,
                          asynchronous))

SOFT_API_ptds(cuMemcpyAtoA_v2,
              (CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset,
               size_t ByteCount),
              (dstArray, dstOffset, srcArray, srcOffset, ByteCount))
{
    return copy_linear(in_array(dstArray, dstOffset), in_array(srcArray, srcOffset), ByteCount,
                       NULL, false);
}
