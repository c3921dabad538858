/* SPDX-License-Identifier: Apache-2.0 */
/* Linear copies. */
#include "softcuda/context.h"
#include "softcuda/copy.h"

#define HOST    CU_MEMORYTYPE_HOST
#define DEVICE  CU_MEMORYTYPE_DEVICE
#define UNIFIED CU_MEMORYTYPE_UNIFIED

static CUresult copy(const void *to, CUmemorytype to_type, const void *from, CUmemorytype from_type,
                     size_t size, CUstream handle, bool asynchronous)
{
    soft_stream *stream;
    CUresult result = soft_stream_get(handle, &stream);
    if (result != CUDA_SUCCESS || size == 0)
        return result;

    copy_block block = {.width = size, .height = 1, .depth = 1};
    block.to.address = (unsigned char *)(uintptr_t)to;
    block.from.address = (unsigned char *)(uintptr_t)from;
    result = copy_find_place(to, size, to_type, &block.to.place);
    if (result == CUDA_SUCCESS)
        result = copy_find_place(from, size, from_type, &block.from.place);
    return result == CUDA_SUCCESS ? copy_submit(stream, &block, asynchronous) : result;
}

static const void *at(CUdeviceptr pointer)
{
    return (const void *)(uintptr_t)pointer;
}

SOFT_API cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
    return copy(at(dst), UNIFIED, at(src), UNIFIED, ByteCount, NULL, false);
}

SOFT_API cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
    return copy(at(dst), UNIFIED, at(src), UNIFIED, ByteCount, hStream, true);
}

SOFT_API cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
    return copy(at(dstDevice), DEVICE, srcHost, HOST, ByteCount, NULL, false);
}

SOFT_API cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
                              CUstream hStream)
{
    return copy(at(dstDevice), DEVICE, srcHost, HOST, ByteCount, hStream, true);
}

SOFT_API cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
    return copy(dstHost, HOST, at(srcDevice), DEVICE, ByteCount, NULL, false);
}

SOFT_API cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
                              CUstream hStream)
{
    return copy(dstHost, HOST, at(srcDevice), DEVICE, ByteCount, hStream, true);
}

SOFT_API cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
    return copy(at(dstDevice), DEVICE, at(srcDevice), DEVICE, ByteCount, NULL, false);
}

SOFT_API cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
                              CUstream hStream)
{
    return copy(at(dstDevice), DEVICE, at(srcDevice), DEVICE, ByteCount, hStream, true);
}

/* Both contexts are on the one device; NULL is the current one. */
static CUresult copy_peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                          CUcontext from_context, size_t size, CUstream stream, bool asynchronous)
{
    soft_context *context;
    CUresult result = soft_check_init();
    if (result == CUDA_SUCCESS && to_context)
        result = soft_context_get(to_context, &context);
    if (result == CUDA_SUCCESS && from_context)
        result = soft_context_get(from_context, &context);
    if (result != CUDA_SUCCESS)
        return result;
    return copy(at(to), DEVICE, at(from), DEVICE, size, stream, asynchronous);
}

SOFT_API cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                      CUcontext srcContext, size_t ByteCount)
{
    return copy_peer(dstDevice, dstContext, srcDevice, srcContext, ByteCount, NULL, false);
}

SOFT_API cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                           CUcontext srcContext, size_t ByteCount, CUstream hStream)
{
    return copy_peer(dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream, true);
}

SOFT_API_ptds(cuMemcpy, (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount), (dst, src, ByteCount))
SOFT_API_ptsz(cuMemcpyAsync, (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream),
              (dst, src, ByteCount, hStream))
SOFT_API_ptds(cuMemcpyHtoD_v2, (CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount),
              (dstDevice, srcHost, ByteCount))
SOFT_API_ptsz(cuMemcpyHtoDAsync_v2,
              (CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream),
              (dstDevice, srcHost, ByteCount, hStream))
SOFT_API_ptds(cuMemcpyDtoH_v2, (void *dstHost, CUdeviceptr srcDevice, size_t ByteCount),
              (dstHost, srcDevice, ByteCount))
SOFT_API_ptsz(cuMemcpyDtoHAsync_v2,
              (void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream),
              (dstHost, srcDevice, ByteCount, hStream))
SOFT_API_ptds(cuMemcpyDtoD_v2, (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount),
              (dstDevice, srcDevice, ByteCount))
SOFT_API_ptsz(cuMemcpyDtoDAsync_v2,
              (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream),
              (dstDevice, srcDevice, ByteCount, hStream))
SOFT_API_ptds(cuMemcpyPeer,
              (CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
               CUcontext srcContext, size_t ByteCount),
              (dstDevice, dstContext, srcDevice, srcContext, ByteCount))
SOFT_API_ptsz(cuMemcpyPeerAsync,
              (CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
               CUcontext srcContext, size_t ByteCount, CUstream hStream),
              (dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream))
