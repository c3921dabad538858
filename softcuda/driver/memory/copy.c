/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Linear copies. */
#include "softcuda/driver/memory/copy.h"

static CUresult find_side(const copy_end *end, size_t size, const soft_context *party,
                          copy_side *side)
{
    if (end->type == CU_MEMORYTYPE_ARRAY)
        return copy_find_array(end->array, (size_t[]){end->offset, 0, 0}, (size_t[]){size, 1, 1},
                               side);
    side->address = (unsigned char *)(uintptr_t)end->address;
    return copy_find_place(end->address, size, end->type, end->party ? end->party : party,
                           &side->place);
}

CUresult copy_linear(copy_end to, copy_end from, size_t size, CUstream handle, bool asynchronous)
{
    SOFT_GET(soft_stream *, stream, soft_stream_get(handle, &stream));
    if (size == 0)
        return CUDA_SUCCESS;
    copy_block block = {.width = size, .height = 1, .depth = 1};
    const soft_context *party = copy_party(stream);
    SOFT_TRY(find_side(&to, size, party, &block.to));
    SOFT_TRY(find_side(&from, size, party, &block.from));
    return copy_submit(stream, &block, asynchronous);
}

static copy_end unified(CUdeviceptr pointer)
{
    copy_end end = in_device(pointer);
    end.type = CU_MEMORYTYPE_UNIFIED;
    return end;
}

SOFT_API_both(cuMemcpy, cuMemcpyAsync, (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount),
              copy_linear(unified(dst), unified(src), ByteCount, stream, asynchronous))

SOFT_API_both(cuMemcpyHtoD_v2, cuMemcpyHtoDAsync_v2,
              (CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount),
              copy_linear(in_device(dstDevice), in_host(srcHost), ByteCount, stream, asynchronous))

SOFT_API_both(cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2,
              (void *dstHost, CUdeviceptr srcDevice, size_t ByteCount),
              copy_linear(in_host(dstHost), in_device(srcDevice), ByteCount, stream, asynchronous))

SOFT_API_both(cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2,
              (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount),
              copy_linear(in_device(dstDevice), in_device(srcDevice), ByteCount, stream,
                          asynchronous))
