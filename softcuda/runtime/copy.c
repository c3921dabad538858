/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copies of bytes, within a device and between devices. */
#include "softcuda/runtime/copy.h"

#include <stdint.h>

#define AT(pointer) ((CUdeviceptr)(uintptr_t)(pointer))

static CUresult copy_now(void *to, const void *from, size_t size, enum cudaMemcpyKind kind)
{
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return RT_DEFAULT_STREAM(cuMemcpyHtoD_v2, (AT(to), from, size));
    case cudaMemcpyDeviceToHost:
        return RT_DEFAULT_STREAM(cuMemcpyDtoH_v2, (to, AT(from), size));
    case cudaMemcpyDeviceToDevice:
        return RT_DEFAULT_STREAM(cuMemcpyDtoD_v2, (AT(to), AT(from), size));
    default:
        return RT_DEFAULT_STREAM(cuMemcpy, (AT(to), AT(from), size));
    }
}

static CUresult copy_on(CUstream stream, void *to, const void *from, size_t size,
                        enum cudaMemcpyKind kind)
{
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return cuMemcpyHtoDAsync_v2(AT(to), from, size, stream);
    case cudaMemcpyDeviceToHost:
        return cuMemcpyDtoHAsync_v2(to, AT(from), size, stream);
    case cudaMemcpyDeviceToDevice:
        return cuMemcpyDtoDAsync_v2(AT(to), AT(from), size, stream);
    default:
        return cuMemcpyAsync(AT(to), AT(from), size, stream);
    }
}

CUresult rt_copy_bytes(void *to, const void *from, size_t size, enum cudaMemcpyKind kind,
                       rt_order order)
{
    SOFT_FAIL_IF(!rt_is_kind(kind), RT_ERROR_DIRECTION);
    if (size == 0)
        return CUDA_SUCCESS;
    return order.queued ? copy_on(order.stream, to, from, size, kind)
                        : copy_now(to, from, size, kind);
}

RT_API_both(cudaMemcpy, (void *dst, const void *src, size_t count, enum cudaMemcpyKind kind),
            rt_copy_bytes(dst, src, count, kind, order))

static CUresult copy_peer(void *to, int to_device, const void *from, int from_device, size_t size,
                          rt_order order)
{
    CUcontext to_context, from_context;
    SOFT_TRY(rt_primary(to_device, &to_context));
    SOFT_TRY(rt_primary(from_device, &from_context));
    if (size == 0)
        return CUDA_SUCCESS;
    if (order.queued)
        return cuMemcpyPeerAsync(AT(to), to_context, AT(from), from_context, size, order.stream);
    return RT_DEFAULT_STREAM(cuMemcpyPeer, (AT(to), to_context, AT(from), from_context, size));
}

RT_FORWARD(cudaMemcpyPeer, (void *dst, int dstDevice, const void *src, int srcDevice, size_t count),
           copy_peer(dst, dstDevice, src, srcDevice, count, RT_BLOCKING))
RT_FORWARD(cudaMemcpyPeerAsync,
           (void *dst, int dstDevice, const void *src, int srcDevice, size_t count,
            cudaStream_t stream),
           copy_peer(dst, dstDevice, src, srcDevice, count, RT_QUEUED_ON(stream)))
