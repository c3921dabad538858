/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Copies of rectangles and boxes between pitched memory and arrays. All use the 3D copy of the
 * driver API.
 */
#include "softcuda/runtime/channel.h"
#include "softcuda/runtime/copy.h"

#include <stdint.h>

/* The memory type of the source pointer of a copy of this kind. */
static CUmemorytype source_type(enum cudaMemcpyKind kind)
{
    if (kind == cudaMemcpyDefault)
        return CU_MEMORYTYPE_UNIFIED;
    return kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice ? CU_MEMORYTYPE_HOST
                                                                          : CU_MEMORYTYPE_DEVICE;
}

static CUmemorytype target_type(enum cudaMemcpyKind kind)
{
    if (kind == cudaMemcpyDefault)
        return CU_MEMORYTYPE_UNIFIED;
    return kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost ? CU_MEMORYTYPE_HOST
                                                                          : CU_MEMORYTYPE_DEVICE;
}

#define SET_SIDE(box, side, array, memory, pitch, type)                                            \
    do {                                                                                           \
        (box)->side##MemoryType = (array) ? CU_MEMORYTYPE_ARRAY : (type);                          \
        (box)->side##Array = (CUarray)(array);                                                     \
        (box)->side##Host = (memory);                                                              \
        (box)->side##Device = (CUdeviceptr)(uintptr_t)(memory);                                    \
        (box)->side##Pitch = (pitch);                                                              \
    } while (0)

void rt_box_from(CUDA_MEMCPY3D *box, cudaArray_const_t array, const void *memory, size_t pitch,
                 enum cudaMemcpyKind kind)
{
    SET_SIDE(box, src, array, memory, pitch, source_type(kind));
}

void rt_box_to(CUDA_MEMCPY3D *box, cudaArray_const_t array, void *memory, size_t pitch,
               enum cudaMemcpyKind kind)
{
    SET_SIDE(box, dst, array, memory, pitch, target_type(kind));
}

CUresult rt_copy_box(const CUDA_MEMCPY3D *box, rt_order order)
{
    if (box->WidthInBytes == 0 || box->Height == 0 || box->Depth == 0)
        return CUDA_SUCCESS;
    return order.queued ? cuMemcpy3DAsync_v2(box, order.stream)
                        : RT_DEFAULT_STREAM(cuMemcpy3D_v2, (box));
}

/* ---- Two dimensions -------------------------------------------------------------------------- */

static CUresult copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                        size_t width, size_t height, enum cudaMemcpyKind kind, rt_order order)
{
    SOFT_FAIL_IF(!rt_is_kind(kind), RT_ERROR_DIRECTION);
    SOFT_FAIL_IF(width > to_pitch || width > from_pitch, RT_ERROR_PITCH);
    CUDA_MEMCPY3D box = {.WidthInBytes = width, .Height = height, .Depth = 1};
    rt_box_from(&box, NULL, from, from_pitch, kind);
    rt_box_to(&box, NULL, to, to_pitch, kind);
    return rt_copy_box(&box, order);
}

RT_API_both(cudaMemcpy2D,
            (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
             enum cudaMemcpyKind kind),
            copy_2d(dst, dpitch, src, spitch, width, height, kind, order))

/* ---- Three dimensions ------------------------------------------------------------------------ */

/* The number of bytes per element of the array; 1 for memory. */
static CUresult element_size(cudaArray_const_t array, size_t *size)
{
    CUDA_ARRAY3D_DESCRIPTOR has;
    *size = 1;
    if (!array)
        return CUDA_SUCCESS;
    SOFT_TRY(cuArray3DGetDescriptor_v2(&has, (CUarray)array));
    *size = rt_element_size(has.Format, has.NumChannels);
    return CUDA_SUCCESS;
}

/* Sets both sides of the box. Each side is an array, or memory with elements of one byte. */
static CUresult set_sides(CUDA_MEMCPY3D *box, const struct cudaMemcpy3DParms *p, size_t from_size,
                          size_t to_size)
{
    SOFT_FAIL_IF(p->srcArray && p->dstArray && from_size != to_size, CUDA_ERROR_INVALID_VALUE);
    /* If a side is an array, the width is a number of its elements. */
    *box = (CUDA_MEMCPY3D){.srcXInBytes = p->srcPos.x * from_size,
                           .srcY = p->srcPos.y,
                           .srcZ = p->srcPos.z,
                           .srcHeight = p->srcPtr.ysize,
                           .dstXInBytes = p->dstPos.x * to_size,
                           .dstY = p->dstPos.y,
                           .dstZ = p->dstPos.z,
                           .dstHeight = p->dstPtr.ysize,
                           .WidthInBytes = p->extent.width * (p->srcArray ? from_size : to_size),
                           .Height = p->extent.height,
                           .Depth = p->extent.depth};
    rt_box_from(box, p->srcArray, p->srcPtr.ptr, p->srcPtr.pitch, p->kind);
    rt_box_to(box, p->dstArray, p->dstPtr.ptr, p->dstPtr.pitch, p->kind);
    return CUDA_SUCCESS;
}

CUresult rt_box_of(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *box)
{
    size_t from_size, to_size;
    SOFT_FAIL_IF(!p || (p->srcArray && p->srcPtr.ptr) || (p->dstArray && p->dstPtr.ptr),
                 CUDA_ERROR_INVALID_VALUE);
    SOFT_FAIL_IF(!rt_is_kind(p->kind), RT_ERROR_DIRECTION);
    SOFT_TRY(element_size(p->srcArray, &from_size));
    SOFT_TRY(element_size(p->dstArray, &to_size));
    return set_sides(box, p, from_size, to_size);
}

static CUresult copy_3d(const struct cudaMemcpy3DParms *p, rt_order order)
{
    CUDA_MEMCPY3D box = {0};
    SOFT_TRY(rt_box_of(p, &box));
    return rt_copy_box(&box, order);
}

RT_API_both(cudaMemcpy3D, (const struct cudaMemcpy3DParms *p), copy_3d(p, order))

/* ---- Between devices ------------------------------------------------------------------------- */

static CUresult copy_3d_peer(const struct cudaMemcpy3DPeerParms *p, rt_order order)
{
    SOFT_FAIL_IF(!p, CUDA_ERROR_INVALID_VALUE);
    const struct cudaMemcpy3DParms parms = {.srcArray = p->srcArray,
                                            .srcPos = p->srcPos,
                                            .srcPtr = p->srcPtr,
                                            .dstArray = p->dstArray,
                                            .dstPos = p->dstPos,
                                            .dstPtr = p->dstPtr,
                                            .extent = p->extent,
                                            .kind = cudaMemcpyDeviceToDevice};
    CUDA_MEMCPY3D box = {0};
    CUDA_MEMCPY3D_PEER peer = {0};
    SOFT_TRY(rt_primary(p->srcDevice, &peer.srcContext));
    SOFT_TRY(rt_primary(p->dstDevice, &peer.dstContext));
    SOFT_TRY(rt_box_of(&parms, &box));
    if (!box.WidthInBytes || !box.Height || !box.Depth)
        return CUDA_SUCCESS;
    peer.srcXInBytes = box.srcXInBytes, peer.srcY = box.srcY, peer.srcZ = box.srcZ;
    peer.srcMemoryType = box.srcMemoryType, peer.srcDevice = box.srcDevice;
    peer.srcArray = box.srcArray, peer.srcPitch = box.srcPitch, peer.srcHeight = box.srcHeight;
    peer.dstXInBytes = box.dstXInBytes, peer.dstY = box.dstY, peer.dstZ = box.dstZ;
    peer.dstMemoryType = box.dstMemoryType, peer.dstDevice = box.dstDevice;
    peer.dstArray = box.dstArray, peer.dstPitch = box.dstPitch, peer.dstHeight = box.dstHeight;
    peer.WidthInBytes = box.WidthInBytes, peer.Height = box.Height, peer.Depth = box.Depth;
    return order.queued ? cuMemcpy3DPeerAsync(&peer, order.stream)
                        : RT_DEFAULT_STREAM(cuMemcpy3DPeer, (&peer));
}

RT_API_both(cudaMemcpy3DPeer, (const struct cudaMemcpy3DPeerParms *p), copy_3d_peer(p, order))
