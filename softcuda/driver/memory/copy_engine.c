/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The copy engine. Calls return as NVIDIA documents under "API synchronization behavior". If the
 * document allows a copy to happen after the return, it does happen after the return here, so that
 * a missing wait in a program shows.
 */
#include "softcuda/driver/memory/copy.h"
#include "softcuda/driver/graph/graph_work.h"
#include "softcuda/driver/kernel/fault.h"
#include "softcuda/driver/memory/managed_memory.h"
#include "softcuda/driver/memory/peer_access.h"
#include "softcuda/driver/object_at.h"

#include <string.h>

/*
 * A synchronous copy of at most this many bytes from pageable memory returns before the copy ends.
 */
#define EARLY_RETURN_LIMIT 65536

static enum copy_place place_of(const soft_range *range)
{
    if (soft_is_host(range))
        return COPY_PINNED;
    return soft_is_managed(range) ? COPY_MANAGED : COPY_DEVICE;
}

bool copy_syncs(const void *address)
{
    soft_range range;
    return soft_range_find(address, &range) && range.syncs_copies;
}

const soft_context *copy_party(const soft_stream *stream)
{
    soft_context *current;
    return soft_check_context(&current) == CUDA_SUCCESS ? current : soft_stream_context(stream);
}

static bool is_accessible(const soft_range *range, const soft_context *party)
{
    bool is_open_to_all =
        range->kind == SOFT_MEMORY_DEVICE || range->kind == SOFT_MEMORY_GRAPHICS ||
        (range->kind == SOFT_MEMORY_EXTERNAL && range->flags == SOFT_EXTERNAL_OWN);
    return is_open_to_all || soft_is_host(range) || soft_can_access(party, range);
}

CUresult copy_find_place(const void *address, size_t extent, CUmemorytype type,
                         const soft_context *party, enum copy_place *place)
{
    soft_range range;
    SOFT_FAIL_IF(!address, CUDA_ERROR_INVALID_VALUE);
    if (!soft_range_find(address, &range)) {
        *place = COPY_PAGEABLE;
        if (type != CU_MEMORYTYPE_DEVICE)
            return CUDA_SUCCESS;
        soft_pages_log("a copy or fill", address);
        return CUDA_ERROR_INVALID_VALUE;
    }
    *place = place_of(&range);
    SOFT_FAIL_IF(!is_accessible(&range, party) ||
                     extent > soft_range_reach(address, 1u << soft_context_device(party)),
                 CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

void soft_copy_run(void *payload)
{
    const copy_block *block = payload;
    if (soft_task_error != CUDA_SUCCESS)
        return;
    soft_work_begin("a copy", NULL);
    for (size_t z = 0; z < block->depth; z++)
        for (size_t y = 0; y < block->height; y++)
            memmove(block->to.address + z * block->to.slice + y * block->to.pitch,
                    block->from.address + z * block->from.slice + y * block->from.pitch,
                    block->width);
    soft_work_end();
}

static CUresult push_plain(soft_stream *stream, const copy_block *block)
{
    return soft_stream_push_work(stream, soft_copy_run, block, sizeof(*block));
}

static CUresult push_and_wait(soft_stream *stream, const copy_block *block)
{
    return soft_stream_run_work(stream, soft_copy_run, block, sizeof(*block));
}

/* Copies the source into the task, during the call. */
static CUresult push_staged(soft_stream *stream, const copy_block *block, size_t bytes)
{
    soft_task *task = soft_task_new(sizeof(*block) + bytes);
    if (!task)
        return push_and_wait(stream, block);
    copy_block *staged = soft_task_payload(task);
    *staged = *block;
    staged->from.address = (unsigned char *)(staged + 1);
    staged->from.pitch = block->width;
    staged->from.slice = block->width * block->height;

    copy_block staging = *block;
    staging.to = staged->from;
    soft_copy_run(&staging);
    return soft_task_push(stream, task, soft_copy_run);
}

static bool is_host(enum copy_place place)
{
    return place == COPY_PAGEABLE || place == COPY_PINNED;
}

void soft_copy_describe(const void *payload, CUDA_MEMCPY3D *params)
{
    const copy_block *b = payload;
    *params = (CUDA_MEMCPY3D){
        .srcMemoryType = is_host(b->from.place) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        .srcHost = b->from.address,
        .srcDevice = (CUdeviceptr)(uintptr_t)b->from.address,
        .srcPitch = b->from.pitch,
        .srcHeight = b->from.pitch ? b->from.slice / b->from.pitch : 0,
        .dstMemoryType = is_host(b->to.place) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        .dstHost = b->to.address,
        .dstDevice = (CUdeviceptr)(uintptr_t)b->to.address,
        .dstPitch = b->to.pitch,
        .dstHeight = b->to.pitch ? b->to.slice / b->to.pitch : 0,
        .WidthInBytes = b->width,
        .Height = b->height,
        .Depth = b->depth,
    };
}

CUresult copy_submit(soft_stream *stream, const copy_block *block, bool asynchronous)
{
    enum copy_place from = block->from.place, to = block->to.place;
    size_t bytes = block->width * block->height * block->depth;
    if (stream->capture)
        return asynchronous ? push_plain(stream, block) : soft_capture_refuse(stream);
    if (is_host(from) && is_host(to))
        return push_and_wait(stream, block);
    if (!asynchronous && (copy_syncs(block->from.address) || copy_syncs(block->to.address)))
        return push_and_wait(stream, block);
    if (to == COPY_PAGEABLE)
        return push_and_wait(stream, block);
    if (from == COPY_PAGEABLE && asynchronous)
        return push_staged(stream, block, bytes);
    if (from == COPY_PAGEABLE && bytes <= EARLY_RETURN_LIMIT) {
        SOFT_TRY(soft_stream_wait(stream));
        return push_staged(stream, block, bytes);
    }
    bool both_device = from == COPY_DEVICE && to == COPY_DEVICE;
    return asynchronous || both_device ? push_plain(stream, block) : push_and_wait(stream, block);
}
