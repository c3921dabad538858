/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Copies that name a context for each side. The memory of the two contexts may be on two devices.
 */
#include "softcuda/driver/context/context.h"
#include "softcuda/driver/memory/copy.h"

/* Finds a context by its handle. NULL means the current context. */
static CUresult find_named(CUcontext handle, soft_context **context)
{
    return handle ? soft_context_get(handle, context) : soft_check_context(context);
}

/* A synchronous copy is ordered after all work of both contexts. */
static CUresult wait_for(const copy_peers *peers)
{
    if (peers->to == peers->from)
        return CUDA_SUCCESS;
    SOFT_TRY(soft_context_wait(peers->to));
    return soft_context_wait(peers->from);
}

static CUresult find_peers(CUcontext to, CUcontext from, bool asynchronous, copy_peers *peers)
{
    SOFT_TRY(soft_check_init());
    SOFT_TRY(find_named(to, &peers->to));
    SOFT_TRY(find_named(from, &peers->from));
    return asynchronous ? CUDA_SUCCESS : wait_for(peers);
}

/* After a synchronous copy, waits until it is complete for both contexts. */
static CUresult finish(const copy_peers *peers, bool asynchronous)
{
    soft_stream *stream;
    if (asynchronous || peers->to == peers->from)
        return CUDA_SUCCESS;
    SOFT_TRY(soft_stream_get(NULL, &stream));
    return soft_stream_wait(stream);
}

/* ---- Linear copies --------------------------------------------------------------------------- */

static CUresult copy_peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                          CUcontext from_context, size_t size, CUstream stream, bool asynchronous)
{
    SOFT_GET(copy_peers, peers, find_peers(to_context, from_context, asynchronous, &peers));
    copy_end target = in_device(to), source = in_device(from);
    target.party = peers.to;
    source.party = peers.from;
    SOFT_TRY(copy_linear(target, source, size, stream, asynchronous));
    return finish(&peers, asynchronous);
}

SOFT_API_both(cuMemcpyPeer, cuMemcpyPeerAsync,
              (CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
               CUcontext srcContext, size_t ByteCount),
              copy_peer(dstDevice, dstContext, srcDevice, srcContext, ByteCount, stream,
                        asynchronous))

/* ---- 3D copies ------------------------------------------------------------------------------- */

static CUresult copy_peer_3d(const CUDA_MEMCPY3D_PEER *given, CUstream stream, bool asynchronous)
{
    copy_peers peers;
    if (!given)
        return copy_3d(NULL, NULL, stream, asynchronous);
    const CUDA_MEMCPY3D whole = {
        COPY_SIDE(src, given),
        COPY_SIDE(dst, given),
        .srcZ = given->srcZ,
        .srcHeight = given->srcHeight,
        .dstZ = given->dstZ,
        .dstHeight = given->dstHeight,
        .WidthInBytes = given->WidthInBytes,
        .Height = given->Height,
        .Depth = given->Depth,
    };
    SOFT_TRY(find_peers(given->dstContext, given->srcContext, asynchronous, &peers));
    SOFT_TRY(copy_3d(&whole, &peers, stream, asynchronous));
    return finish(&peers, asynchronous);
}

SOFT_API_both(cuMemcpy3DPeer, cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER *pCopy),
              copy_peer_3d(pCopy, stream, asynchronous))
