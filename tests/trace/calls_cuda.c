/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Calls of CUDA whose arguments are structs. */
#include "record.h"

#include <string.h>

#include <cuda.h>

static void put_stream(CUstream stream)
{
    put_object("stream", (uintptr_t)stream);
}

static void write_import_memory(const struct call_seen *call)
{
    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc = ARG_TO(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, 1);
    put(" type=%d size=%llu flags=0x%x", (int)desc->type, desc->size, desc->flags);
}

static void write_import_semaphore(const struct call_seen *call)
{
    const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc =
        ARG_TO(CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC, 1);
    put(" type=%d flags=0x%x", (int)desc->type, desc->flags);
}

static void write_mapped_buffer(const struct call_seen *call)
{
    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc = ARG_TO(CUDA_EXTERNAL_MEMORY_BUFFER_DESC, 2);
    put_object("external", ARG(1));
    put(" offset=%llu size=%llu flags=0x%x", desc->offset, desc->size, desc->flags);
}

static void put_array(const CUDA_ARRAY3D_DESCRIPTOR *array)
{
    put(" %zux%zux%zu format=0x%x channels=%u flags=0x%x", array->Width, array->Height,
        array->Depth, (unsigned)array->Format, array->NumChannels, array->Flags);
}

static void write_mapped_array(const struct call_seen *call)
{
    const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc =
        ARG_TO(CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC, 2);
    put_object("external", ARG(1));
    put(" offset=%llu levels=%u", desc->offset, desc->numLevels);
    put_array(&desc->arrayDesc);
}

static void write_new_array(const struct call_seen *call)
{
    put_array(ARG_TO(CUDA_ARRAY3D_DESCRIPTOR, 1));
    put(" levels=%d", ARG_INT(2));
}

static void write_registrations(const struct call_seen *call)
{
    const CUgraphicsResource *all = ARG_TO(CUgraphicsResource, 1);
    for (int i = 0; i < ARG_INT(0); i++)
        put_object("registration", (uintptr_t)all[i]);
    put_stream((CUstream)ARG(2));
}

static void write_signals(const struct call_seen *call)
{
    const CUexternalSemaphore *all = ARG_TO(CUexternalSemaphore, 0);
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *params =
        ARG_TO(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, 1);
    put_stream((CUstream)ARG(3));
    for (int i = 0; i < ARG_INT(2); i++) {
        put_object("semaphore", (uintptr_t)all[i]);
        put_value(params[i].params.fence.value);
        put(" flags=0x%x", params[i].flags);
    }
}

static void write_waits(const struct call_seen *call)
{
    const CUexternalSemaphore *all = ARG_TO(CUexternalSemaphore, 0);
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params =
        ARG_TO(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, 1);
    put_stream((CUstream)ARG(3));
    for (int i = 0; i < ARG_INT(2); i++) {
        put_object("semaphore", (uintptr_t)all[i]);
        put_value(params[i].params.fence.value);
        put(" flags=0x%x", params[i].flags);
    }
}

static void write_batch(const struct call_seen *call)
{
    const CUstreamBatchMemOpParams *operations = ARG_TO(CUstreamBatchMemOpParams, 2);
    put_stream((CUstream)ARG(0));
    for (int i = 0; i < ARG_INT(1); i++)
        put(" operation=%d barrier=0x%x", (int)operations[i].operation,
            operations[i].memoryBarrier.flags);
    put(" flags=0x%x", (unsigned)ARG(3));
}

#define PUT_COPY(copy)                                                                             \
    put(" %zux%zux%zu", (copy)->WidthInBytes, (copy)->Height, (copy)->Depth);                      \
    put(" from type=%d at %zu,%zu,%zu pitch=%zu height=%zu level=%zu", (int)(copy)->srcMemoryType, \
        (copy)->srcXInBytes, (copy)->srcY, (copy)->srcZ, (copy)->srcPitch, (copy)->srcHeight,      \
        (copy)->srcLOD);                                                                           \
    put(" to type=%d at %zu,%zu,%zu pitch=%zu height=%zu level=%zu", (int)(copy)->dstMemoryType,   \
        (copy)->dstXInBytes, (copy)->dstY, (copy)->dstZ, (copy)->dstPitch, (copy)->dstHeight,      \
        (copy)->dstLOD)

static void write_copy(const struct call_seen *call)
{
    const CUDA_MEMCPY3D *copy = ARG_TO(CUDA_MEMCPY3D, 0);
    PUT_COPY(copy);
    put_stream((CUstream)ARG(1));
}

static void write_peer_copy(const struct call_seen *call)
{
    const CUDA_MEMCPY3D_PEER *copy = ARG_TO(CUDA_MEMCPY3D_PEER, 0);
    PUT_COPY(copy);
    put_stream((CUstream)ARG(1));
}

static void write_memory(const struct call_seen *call)
{
    const CUmemAllocationProp *prop = ARG_TO(CUmemAllocationProp, 2);
    put(" size=%lu type=%d handles=0x%x location=%d:%d flags=0x%x", ARG(1), (int)prop->type,
        (unsigned)prop->requestedHandleTypes, (int)prop->location.type, prop->location.id,
        (unsigned)ARG(3));
}

static void write_access(const struct call_seen *call)
{
    const CUmemAccessDesc *desc = ARG_TO(CUmemAccessDesc, 2);
    put(" size=%lu", ARG(1));
    for (int i = 0; i < ARG_INT(3); i++)
        put(" location=%d:%d access=%d", (int)desc[i].location.type, desc[i].location.id,
            (int)desc[i].flags);
}

static void write_texture(const struct call_seen *call)
{
    const CUDA_RESOURCE_DESC *of = ARG_TO(CUDA_RESOURCE_DESC, 1);
    const CUDA_TEXTURE_DESC *as = ARG_TO(CUDA_TEXTURE_DESC, 2);
    const CUDA_RESOURCE_VIEW_DESC *view = ARG_TO(CUDA_RESOURCE_VIEW_DESC, 3);
    put(" of=%d address=%d,%d,%d filter=%d flags=0x%x anisotropy=%u mipmaps=%d", (int)of->resType,
        (int)as->addressMode[0], (int)as->addressMode[1], (int)as->addressMode[2],
        (int)as->filterMode, as->flags, as->maxAnisotropy, (int)as->mipmapFilterMode);
    if (view)
        put(" view=0x%x %zux%zux%zu levels=%u-%u layers=%u-%u", (unsigned)view->format, view->width,
            view->height, view->depth, view->firstMipmapLevel, view->lastMipmapLevel,
            view->firstLayer, view->lastLayer);
}

static void write_surface(const struct call_seen *call)
{
    put(" of=%d", (int)ARG_TO(CUDA_RESOURCE_DESC, 1)->resType);
}

write_call *cuda_writer(const char *name)
{
    static const struct {
        const char *name;
        write_call *write;
    } all[] = {
        {"cuExternalMemoryGetMappedBuffer", write_mapped_buffer},
        {"cuExternalMemoryGetMappedMipmappedArray", write_mapped_array},
        {"cuGraphicsMapResources", write_registrations},
        {"cuGraphicsUnmapResources", write_registrations},
        {"cuImportExternalMemory", write_import_memory},
        {"cuImportExternalSemaphore", write_import_semaphore},
        {"cuMemCreate", write_memory},
        {"cuMemSetAccess", write_access},
        {"cuMemcpy3DAsync", write_copy},
        {"cuMemcpy3DPeerAsync", write_peer_copy},
        {"cuMipmappedArrayCreate", write_new_array},
        {"cuSignalExternalSemaphoresAsync", write_signals},
        {"cuStreamBatchMemOp", write_batch},
        {"cuSurfObjectCreate", write_surface},
        {"cuTexObjectCreate", write_texture},
        {"cuWaitExternalSemaphoresAsync", write_waits},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (strcmp(all[i].name, name) == 0)
            return all[i].write;
    return NULL;
}
