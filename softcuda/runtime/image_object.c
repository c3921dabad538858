/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Texture and surface objects. Converts descriptions of the runtime API to those of the driver API,
 * and back.
 */
#include "softcuda/runtime/channel.h"

#include <stdint.h>
#include <string.h>

/*
 * Resource types, address modes, filter modes and view formats have the same values as in the
 * driver API.
 */
static CUresult resource_to_driver(const struct cudaResourceDesc *from, CUDA_RESOURCE_DESC *to)
{
    rt_format format = {0};
    CUresult result = CUDA_SUCCESS;
    memset(to, 0, sizeof(*to));
    to->resType = (CUresourcetype)from->resType;
    switch (from->resType) {
    case cudaResourceTypeArray:
        to->res.array.hArray = (CUarray)from->res.array.array;
        break;
    case cudaResourceTypeMipmappedArray:
        to->res.mipmap.hMipmappedArray = (CUmipmappedArray)from->res.mipmap.mipmap;
        break;
    case cudaResourceTypeLinear:
        result = rt_format_of(&from->res.linear.desc, &format);
        to->res.linear.devPtr = (CUdeviceptr)(uintptr_t)from->res.linear.devPtr;
        to->res.linear.format = format.format;
        to->res.linear.numChannels = format.channels;
        to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        break;
    case cudaResourceTypePitch2D:
        result = rt_format_of(&from->res.pitch2D.desc, &format);
        to->res.pitch2D.devPtr = (CUdeviceptr)(uintptr_t)from->res.pitch2D.devPtr;
        to->res.pitch2D.format = format.format;
        to->res.pitch2D.numChannels = format.channels;
        to->res.pitch2D.width = from->res.pitch2D.width;
        to->res.pitch2D.height = from->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return result;
}

static void resource_to_runtime(const CUDA_RESOURCE_DESC *from, struct cudaResourceDesc *to)
{
    memset(to, 0, sizeof(*to));
    to->resType = (enum cudaResourceType)from->resType;
    switch (from->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        to->res.array.array = (cudaArray_t)from->res.array.hArray;
        break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        to->res.mipmap.mipmap = (cudaMipmappedArray_t)from->res.mipmap.hMipmappedArray;
        break;
    case CU_RESOURCE_TYPE_LINEAR:
        to->res.linear.devPtr = (void *)(uintptr_t)from->res.linear.devPtr;
        to->res.linear.desc = rt_channel_of(from->res.linear.format, from->res.linear.numChannels);
        to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        break;
    default:
        to->res.pitch2D.devPtr = (void *)(uintptr_t)from->res.pitch2D.devPtr;
        to->res.pitch2D.desc =
            rt_channel_of(from->res.pitch2D.format, from->res.pitch2D.numChannels);
        to->res.pitch2D.width = from->res.pitch2D.width;
        to->res.pitch2D.height = from->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        break;
    }
}

/* CU_TRSF_READ_AS_INTEGER may also be set for float formats, on which it has no effect. */
static void texture_to_driver(const struct cudaTextureDesc *from, CUDA_TEXTURE_DESC *to)
{
    memset(to, 0, sizeof(*to));
    for (int i = 0; i < 3; i++)
        to->addressMode[i] = (CUaddress_mode)from->addressMode[i];
    to->filterMode = (CUfilter_mode)from->filterMode;
    to->flags = (from->readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0u) |
                (from->normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0u) |
                (from->sRGB ? CU_TRSF_SRGB : 0u) |
                (from->disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0u) |
                (from->seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0u);
    to->maxAnisotropy = from->maxAnisotropy;
    to->mipmapFilterMode = (CUfilter_mode)from->mipmapFilterMode;
    to->mipmapLevelBias = from->mipmapLevelBias;
    to->minMipmapLevelClamp = from->minMipmapLevelClamp;
    to->maxMipmapLevelClamp = from->maxMipmapLevelClamp;
    memcpy(to->borderColor, from->borderColor, sizeof(to->borderColor));
}

static void texture_to_runtime(const CUDA_TEXTURE_DESC *from, struct cudaTextureDesc *to)
{
    memset(to, 0, sizeof(*to));
    for (int i = 0; i < 3; i++)
        to->addressMode[i] = (enum cudaTextureAddressMode)from->addressMode[i];
    to->filterMode = (enum cudaTextureFilterMode)from->filterMode;
    to->readMode = from->flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType
                                                         : cudaReadModeNormalizedFloat;
    to->normalizedCoords = (from->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    to->sRGB = (from->flags & CU_TRSF_SRGB) != 0;
    to->disableTrilinearOptimization = (from->flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0;
    to->seamlessCubemap = (from->flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
    to->maxAnisotropy = from->maxAnisotropy;
    to->mipmapFilterMode = (enum cudaTextureFilterMode)from->mipmapFilterMode;
    to->mipmapLevelBias = from->mipmapLevelBias;
    to->minMipmapLevelClamp = from->minMipmapLevelClamp;
    to->maxMipmapLevelClamp = from->maxMipmapLevelClamp;
    memcpy(to->borderColor, from->borderColor, sizeof(to->borderColor));
}

_Static_assert(sizeof(struct cudaResourceViewDesc) == sizeof(CUDA_RESOURCE_VIEW_DESC) &&
                   offsetof(struct cudaResourceViewDesc, lastLayer) ==
                       offsetof(CUDA_RESOURCE_VIEW_DESC, lastLayer),
               "the view description must have the driver's layout");

static CUresult create_texture(cudaTextureObject_t *object, const struct cudaResourceDesc *resource,
                               const struct cudaTextureDesc *texture,
                               const struct cudaResourceViewDesc *view)
{
    CUDA_TEXTURE_DESC driver_texture;
    SOFT_FAIL_IF(!object || !resource || !texture, CUDA_ERROR_INVALID_VALUE);
    SOFT_GET(CUDA_RESOURCE_DESC, driver_resource, resource_to_driver(resource, &driver_resource));
    texture_to_driver(texture, &driver_texture);
    return cuTexObjectCreate((CUtexObject *)object, &driver_resource, &driver_texture,
                             (const CUDA_RESOURCE_VIEW_DESC *)(const void *)view);
}

RT_FORWARD(cudaCreateTextureObject,
           (cudaTextureObject_t * pTexObject, const struct cudaResourceDesc *pResDesc,
            const struct cudaTextureDesc *pTexDesc,
            const struct cudaResourceViewDesc *pResViewDesc),
           create_texture(pTexObject, pResDesc, pTexDesc, pResViewDesc))

/* An object of 0 is allowed, and ignored. */
RT_FORWARD(cudaDestroyTextureObject, (cudaTextureObject_t texObject),
           texObject ? cuTexObjectDestroy(texObject) : CUDA_SUCCESS)

RT_API cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *pResDesc,
                                        cudaTextureObject_t texObject)
{
    CUDA_RESOURCE_DESC desc;
    cudaError_t error = RT_IN_CONTEXT(pResDesc ? cuTexObjectGetResourceDesc(&desc, texObject)
                                               : CUDA_ERROR_INVALID_VALUE);
    if (error == cudaSuccess)
        resource_to_runtime(&desc, pResDesc);
    return error;
}

RT_API cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *pTexDesc,
                                       cudaTextureObject_t texObject)
{
    CUDA_TEXTURE_DESC desc;
    cudaError_t error = RT_IN_CONTEXT(pTexDesc ? cuTexObjectGetTextureDesc(&desc, texObject)
                                               : CUDA_ERROR_INVALID_VALUE);
    if (error == cudaSuccess)
        texture_to_runtime(&desc, pTexDesc);
    return error;
}

RT_FORWARD(cudaGetTextureObjectResourceViewDesc,
           (struct cudaResourceViewDesc * pResViewDesc, cudaTextureObject_t texObject),
           cuTexObjectGetResourceViewDesc((CUDA_RESOURCE_VIEW_DESC *)(void *)pResViewDesc,
                                          texObject))

/* ---- Surfaces -------------------------------------------------------------------------------- */

static CUresult create_surface(cudaSurfaceObject_t *object, const struct cudaResourceDesc *resource)
{
    SOFT_FAIL_IF(!object || !resource, CUDA_ERROR_INVALID_VALUE);
    SOFT_GET(CUDA_RESOURCE_DESC, desc, resource_to_driver(resource, &desc));
    return cuSurfObjectCreate((CUsurfObject *)object, &desc);
}

RT_FORWARD(cudaCreateSurfaceObject,
           (cudaSurfaceObject_t * pSurfObject, const struct cudaResourceDesc *pResDesc),
           create_surface(pSurfObject, pResDesc))
RT_FORWARD(cudaDestroySurfaceObject, (cudaSurfaceObject_t surfObject),
           surfObject ? cuSurfObjectDestroy(surfObject) : CUDA_SUCCESS)

RT_API cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *pResDesc,
                                        cudaSurfaceObject_t surfObject)
{
    CUDA_RESOURCE_DESC desc;
    cudaError_t error = RT_IN_CONTEXT(pResDesc ? cuSurfObjectGetResourceDesc(&desc, surfObject)
                                               : CUDA_ERROR_INVALID_VALUE);
    if (error == cudaSuccess)
        resource_to_runtime(&desc, pResDesc);
    return error;
}
