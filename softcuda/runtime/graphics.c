/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * OpenGL resources. A cudaGraphicsResource_t is a CUgraphicsResource, and the flags have the same
 * values as in the driver API.
 */
#include "softcuda/runtime/runtime.h"

#include <epoxy/gl.h>
#include <cudaGL.h>
#include <cuda_gl_interop.h>
#include <stdlib.h>

RT_FORWARD(cudaGraphicsGLRegisterBuffer,
           (struct cudaGraphicsResource * *resource, GLuint buffer, unsigned int flags),
           cuGraphicsGLRegisterBuffer((CUgraphicsResource *)resource, buffer, flags))
RT_FORWARD(cudaGraphicsGLRegisterImage,
           (struct cudaGraphicsResource * *resource, GLuint image, GLenum target,
            unsigned int flags),
           cuGraphicsGLRegisterImage((CUgraphicsResource *)resource, image, target, flags))
RT_FORWARD(cudaGraphicsUnregisterResource, (cudaGraphicsResource_t resource),
           cuGraphicsUnregisterResource((CUgraphicsResource)resource))
RT_FORWARD(cudaGraphicsResourceSetMapFlags, (cudaGraphicsResource_t resource, unsigned int flags),
           cuGraphicsResourceSetMapFlags_v2((CUgraphicsResource)resource, flags))
RT_FORWARD(cudaGraphicsMapResources,
           (int count, cudaGraphicsResource_t *resources, cudaStream_t stream),
           count < 0
               ? CUDA_ERROR_INVALID_VALUE
               : cuGraphicsMapResources((unsigned)count, (CUgraphicsResource *)resources, stream))
RT_FORWARD(cudaGraphicsUnmapResources,
           (int count, cudaGraphicsResource_t *resources, cudaStream_t stream),
           count < 0
               ? CUDA_ERROR_INVALID_VALUE
               : cuGraphicsUnmapResources((unsigned)count, (CUgraphicsResource *)resources, stream))
RT_FORWARD(cudaGraphicsResourceGetMappedPointer,
           (void **devPtr, size_t *size, cudaGraphicsResource_t resource),
           cuGraphicsResourceGetMappedPointer_v2((CUdeviceptr *)devPtr, size,
                                                 (CUgraphicsResource)resource))
RT_FORWARD(cudaGraphicsSubResourceGetMappedArray,
           (cudaArray_t * array, cudaGraphicsResource_t resource, unsigned int arrayIndex,
            unsigned int mipLevel),
           cuGraphicsSubResourceGetMappedArray((CUarray *)array, (CUgraphicsResource)resource,
                                               arrayIndex, mipLevel))
RT_FORWARD(cudaGraphicsResourceGetMappedMipmappedArray,
           (cudaMipmappedArray_t * mipmappedArray, cudaGraphicsResource_t resource),
           cuGraphicsResourceGetMappedMipmappedArray((CUmipmappedArray *)mipmappedArray,
                                                     (CUgraphicsResource)resource))

/* ---- Devices --------------------------------------------------------------------------------- */

static CUresult gl_devices(unsigned *count, int *devices, unsigned room, CUGLDeviceList list)
{
    CUdevice *found = room > 0 ? calloc(room, sizeof(*found)) : NULL;
    SOFT_FAIL_IF(room > 0 && !found, CUDA_ERROR_OUT_OF_MEMORY);
    unsigned number = 0;
    CUresult result = cuGLGetDevices_v2(&number, found, room, list);
    if (result == CUDA_SUCCESS && count)
        *count = number;
    for (unsigned i = 0; result == CUDA_SUCCESS && devices && i < number && i < room; i++)
        devices[i] = found[i];
    free(found);
    return result;
}

RT_FORWARD(cudaGLGetDevices,
           (unsigned int *pCudaDeviceCount, int *pCudaDevices, unsigned int cudaDeviceCount,
            enum cudaGLDeviceList deviceList),
           gl_devices(pCudaDeviceCount, pCudaDevices, cudaDeviceCount, (CUGLDeviceList)deviceList))

/* Only selects the device: since CUDA 5 every device works with OpenGL. */
RT_API cudaGLSetGLDevice(int device)
{
    return cudaSetDevice(device);
}
