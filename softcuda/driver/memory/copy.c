/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Linear copies. */
#include "softcuda/driver/memory/copy.h"

#define HOST    CU_MEMORYTYPE_HOST
#define DEVICE  CU_MEMORYTYPE_DEVICE
#define UNIFIED CU_MEMORYTYPE_UNIFIED

typedef struct {
    const void *address;
    CUmemorytype type;
    const soft_context *party; /* NULL: see copy_party() */
} linear_side;

static CUresult copy_sides(linear_side to, linear_side from, size_t size, CUstream handle,
                           bool asynchronous)
{
    soft_stream *stream;
    CUresult result = soft_stream_get(handle, &stream);
    if (result != CUDA_SUCCESS || size == 0)
        return result;

    copy_block block = {.width = size, .height = 1, .depth = 1};
    const soft_context *party = copy_party(stream);
    block.to.address = (unsigned char *)(uintptr_t)to.address;
    block.from.address = (unsigned char *)(uintptr_t)from.address;
    result =
        copy_find_place(to.address, size, to.type, to.party ? to.party : party, &block.to.place);
    if (result == CUDA_SUCCESS)
        result = copy_find_place(from.address, size, from.type, from.party ? from.party : party,
                                 &block.from.place);
    return result == CUDA_SUCCESS ? copy_submit(stream, &block, asynchronous) : result;
}

static CUresult copy(const void *to, CUmemorytype to_type, const void *from, CUmemorytype from_type,
                     size_t size, CUstream stream, bool asynchronous)
{
    return copy_sides((linear_side){to, to_type, NULL}, (linear_side){from, from_type, NULL}, size,
                      stream, asynchronous);
}

static const void *at(CUdeviceptr pointer)
{
    return (const void *)(uintptr_t)pointer;
}

CUresult copy_linear(CUdeviceptr to, CUdeviceptr from, size_t size, const copy_peers *peers,
                     CUstream handle, bool asynchronous)
{
    return copy_sides((linear_side){at(to), DEVICE, peers->to},
                      (linear_side){at(from), DEVICE, peers->from}, size, handle, asynchronous);
}

SOFT_API_ptds(cuMemcpy, (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount), (dst, src, ByteCount))
{
    return copy(at(dst), UNIFIED, at(src), UNIFIED, ByteCount, NULL, false);
}

SOFT_API_ptsz(cuMemcpyAsync, (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream),
              (dst, src, ByteCount, hStream))
{
    return copy(at(dst), UNIFIED, at(src), UNIFIED, ByteCount, hStream, true);
}

SOFT_API_ptds(cuMemcpyHtoD_v2, (CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount),
              (dstDevice, srcHost, ByteCount))
{
    return copy(at(dstDevice), DEVICE, srcHost, HOST, ByteCount, NULL, false);
}

SOFT_API_ptsz(cuMemcpyHtoDAsync_v2,
              (CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream),
              (dstDevice, srcHost, ByteCount, hStream))
{
    return copy(at(dstDevice), DEVICE, srcHost, HOST, ByteCount, hStream, true);
}

SOFT_API_ptds(cuMemcpyDtoH_v2, (void *dstHost, CUdeviceptr srcDevice, size_t ByteCount),
              (dstHost, srcDevice, ByteCount))
{
    return copy(dstHost, HOST, at(srcDevice), DEVICE, ByteCount, NULL, false);
}

SOFT_API_ptsz(cuMemcpyDtoHAsync_v2,
              (void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream),
              (dstHost, srcDevice, ByteCount, hStream))
{
    return copy(dstHost, HOST, at(srcDevice), DEVICE, ByteCount, hStream, true);
}

SOFT_API_ptds(cuMemcpyDtoD_v2, (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount),
              (dstDevice, srcDevice, ByteCount))
{
    return copy(at(dstDevice), DEVICE, at(srcDevice), DEVICE, ByteCount, NULL, false);
}

SOFT_API_ptsz(cuMemcpyDtoDAsync_v2,
              (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream),
              (dstDevice, srcDevice, ByteCount, hStream))
{
    return copy(at(dstDevice), DEVICE, at(srcDevice), DEVICE, ByteCount, hStream, true);
}
