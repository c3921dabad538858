/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Arrays and mipmapped arrays. A cudaArray_t is a CUarray, and the flags have the same values as in
 * the driver API.
 */
#include "softcuda/runtime/channel.h"

static CUresult describe(CUDA_ARRAY3D_DESCRIPTOR *to, const struct cudaChannelFormatDesc *desc,
                         struct cudaExtent extent, unsigned flags)
{
    rt_format format;
    CUresult result = rt_format_of(desc, &format);
    *to = (CUDA_ARRAY3D_DESCRIPTOR){
        .Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};
    if (result == CUDA_SUCCESS) {
        to->Format = format.format;
        to->NumChannels = format.channels;
    }
    return result;
}

static CUresult create(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                       struct cudaExtent extent, unsigned flags)
{
    SOFT_FAIL_IF(!array || !desc, CUDA_ERROR_INVALID_VALUE);
    SOFT_GET(CUDA_ARRAY3D_DESCRIPTOR, wanted, describe(&wanted, desc, extent, flags));
    return cuArray3DCreate_v2((CUarray *)array, &wanted);
}

RT_API cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width,
                       size_t height, unsigned int flags)
{
    const struct cudaExtent extent = {.width = width, .height = height, .depth = 0};
    return RT_IN_CONTEXT(create(array, desc, extent, flags));
}

RT_FORWARD(cudaMalloc3DArray,
           (cudaArray_t * array, const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
            unsigned int flags),
           create(array, desc, extent, flags))
RT_FORWARD(cudaFreeArray, (cudaArray_t array),
           array ? cuArrayDestroy((CUarray)array) : CUDA_SUCCESS)

static CUresult create_mipmapped(cudaMipmappedArray_t *array,
                                 const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                                 unsigned levels, unsigned flags)
{
    SOFT_FAIL_IF(!array || !desc, CUDA_ERROR_INVALID_VALUE);
    SOFT_GET(CUDA_ARRAY3D_DESCRIPTOR, wanted, describe(&wanted, desc, extent, flags));
    return cuMipmappedArrayCreate((CUmipmappedArray *)array, &wanted, levels);
}

RT_FORWARD(cudaMallocMipmappedArray,
           (cudaMipmappedArray_t * mipmappedArray, const struct cudaChannelFormatDesc *desc,
            struct cudaExtent extent, unsigned int numLevels, unsigned int flags),
           create_mipmapped(mipmappedArray, desc, extent, numLevels, flags))
RT_FORWARD(cudaFreeMipmappedArray, (cudaMipmappedArray_t mipmappedArray),
           mipmappedArray ? cuMipmappedArrayDestroy((CUmipmappedArray)mipmappedArray)
                          : CUDA_SUCCESS)
RT_FORWARD(cudaGetMipmappedArrayLevel,
           (cudaArray_t * levelArray, cudaMipmappedArray_const_t mipmappedArray,
            unsigned int level),
           cuMipmappedArrayGetLevel((CUarray *)levelArray, (CUmipmappedArray)mipmappedArray, level))
RT_FORWARD(cudaArrayGetPlane,
           (cudaArray_t * pPlaneArray, cudaArray_t hArray, unsigned int planeIdx),
           cuArrayGetPlane((CUarray *)pPlaneArray, (CUarray)hArray, planeIdx))

/* Reads the description of an array. desc, extent and flags may each be NULL. */
static CUresult read_array(cudaArray_const_t array, struct cudaChannelFormatDesc *desc,
                           struct cudaExtent *extent, unsigned *flags)
{
    SOFT_GET(CUDA_ARRAY3D_DESCRIPTOR, has, cuArray3DGetDescriptor_v2(&has, (CUarray)array));
    if (desc)
        *desc = rt_channel_of(has.Format, has.NumChannels);
    if (extent)
        *extent = (struct cudaExtent){has.Width, has.Height, has.Depth};
    if (flags)
        *flags = has.Flags;
    return CUDA_SUCCESS;
}

RT_FORWARD(cudaArrayGetInfo,
           (struct cudaChannelFormatDesc * desc, struct cudaExtent *extent, unsigned int *flags,
            cudaArray_t array),
           read_array(array, desc, extent, flags))
RT_FORWARD(cudaGetChannelDesc, (struct cudaChannelFormatDesc * desc, cudaArray_const_t array),
           desc ? read_array(array, desc, NULL, NULL) : CUDA_ERROR_INVALID_VALUE)
