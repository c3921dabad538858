/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Linear and 2D fills with elements of 1, 2 and 4 bytes. */
#include "softcuda/driver/memory/copy.h"
#include "softcuda/driver/graph/graph_work.h"
#include "softcuda/driver/kernel/fault.h"
#include "softcuda/driver/memory/peer_access.h"

#include <string.h>

typedef struct {
    unsigned char *address;
    size_t pitch; /* bytes between rows */
    size_t width; /* elements */
    size_t height;
    uint32_t value;
    unsigned element; /* bytes */
} fill_block;

static void fill_row(unsigned char *row, const fill_block *block)
{
    if (block->element == 1) {
        memset(row, (int)block->value, block->width);
    } else if (block->element == 2) {
        uint16_t *words = (uint16_t *)(void *)row;
        for (size_t x = 0; x < block->width; x++)
            words[x] = (uint16_t)block->value;
    } else {
        uint32_t *words = (uint32_t *)(void *)row;
        for (size_t x = 0; x < block->width; x++)
            words[x] = block->value;
    }
}

void soft_fill_run(void *copy)
{
    const fill_block *block = copy;
    if (soft_task_error != CUDA_SUCCESS)
        return;
    soft_work_begin("a fill", NULL);
    for (size_t y = 0; y < block->height; y++)
        fill_row(block->address + y * block->pitch, block);
    soft_work_end();
}

void soft_fill_describe(const void *payload, CUDA_MEMSET_NODE_PARAMS *params)
{
    const fill_block *block = payload;
    *params = (CUDA_MEMSET_NODE_PARAMS){.dst = (CUdeviceptr)(uintptr_t)block->address,
                                        .pitch = block->pitch,
                                        .value = block->value,
                                        .elementSize = block->element,
                                        .width = block->width,
                                        .height = block->height};
}

/* Checks the block and finds its kind of memory. Fills never use pageable host memory. */
static CUresult check(const fill_block *block, const soft_context *context, enum copy_place *place)
{
    soft_range range;
    size_t row, extent;
    bool aligned = (uintptr_t)block->address % block->element == 0 &&
                   (block->height == 1 || block->pitch % block->element == 0);
    SOFT_FAIL_IF(!aligned || __builtin_mul_overflow(block->width, block->element, &row) ||
                     (block->height > 1 && block->pitch < row) ||
                     __builtin_mul_overflow(block->height - 1, block->pitch, &extent) ||
                     __builtin_add_overflow(extent, row, &extent),
                 CUDA_ERROR_INVALID_VALUE);
    SOFT_FAIL_IF(soft_range_find(block->address, &range) && !soft_can_access(context, &range),
                 CUDA_ERROR_INVALID_VALUE);
    return copy_find_place(block->address, extent, CU_MEMORYTYPE_DEVICE, context, place);
}

/*
 * A synchronous fill waits only if the host can access the memory, or if
 * CU_POINTER_ATTRIBUTE_SYNC_MEMOPS is set for the memory.
 */
static CUresult fill(CUdeviceptr to, size_t pitch, uint32_t value, unsigned element, size_t width,
                     size_t height, CUstream handle, bool asynchronous)
{
    SOFT_GET(soft_stream *, stream, soft_stream_get(handle, &stream));
    if (!width || !height)
        return CUDA_SUCCESS;

    fill_block block = {(unsigned char *)(uintptr_t)to, pitch, width, height, value, element};
    enum copy_place place;
    SOFT_TRY(check(&block, soft_stream_context(stream), &place));
    bool waits = !asynchronous && (place != COPY_DEVICE || copy_syncs(block.address));
    return (waits ? soft_stream_run_work : soft_stream_push_work)(stream, soft_fill_run, &block,
                                                                  sizeof(block));
}

#define FILL(name, name_async, type)                                                               \
    SOFT_API_both(name, name_async, (CUdeviceptr to, type value, size_t count),                    \
                  fill(to, 0, value, sizeof(value), count, 1, stream, asynchronous))
FILL(cuMemsetD8_v2, cuMemsetD8Async, unsigned char)
FILL(cuMemsetD16_v2, cuMemsetD16Async, unsigned short)
FILL(cuMemsetD32_v2, cuMemsetD32Async, unsigned int)

#define FILL_2D(name, name_async, type)                                                            \
    SOFT_API_both(name, name_async,                                                                \
                  (CUdeviceptr to, size_t pitch, type value, size_t width, size_t height),         \
                  fill(to, pitch, value, sizeof(value), width, height, stream, asynchronous))
FILL_2D(cuMemsetD2D8_v2, cuMemsetD2D8Async, unsigned char)
FILL_2D(cuMemsetD2D16_v2, cuMemsetD2D16Async, unsigned short)
FILL_2D(cuMemsetD2D32_v2, cuMemsetD2D32Async, unsigned int)
