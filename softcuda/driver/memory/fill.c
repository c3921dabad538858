/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Fills with elements of 1, 2 and 4 bytes, linear and 2D. */
#include "softcuda/driver/memory/copy.h"
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

static void run_fill(void *copy)
{
    const fill_block *block = copy;
    soft_work_begin("a fill", NULL);
    for (size_t y = 0; y < block->height; y++)
        fill_row(block->address + y * block->pitch, block);
    soft_work_end();
}

/* Checks the block and finds the place of its memory. Fills never use the host. */
static CUresult check(const fill_block *block, const soft_context *context, enum copy_place *place)
{
    soft_range range;
    size_t row, extent;
    bool aligned = (uintptr_t)block->address % block->element == 0 &&
                   (block->height == 1 || block->pitch % block->element == 0);
    if (!aligned || __builtin_mul_overflow(block->width, block->element, &row) ||
        (block->height > 1 && block->pitch < row) ||
        __builtin_mul_overflow(block->height - 1, block->pitch, &extent) ||
        __builtin_add_overflow(extent, row, &extent))
        return CUDA_ERROR_INVALID_VALUE;
    if (soft_range_find(block->address, &range) && !soft_can_access(context, &range))
        return CUDA_ERROR_INVALID_VALUE;
    return copy_find_place(block->address, extent, CU_MEMORYTYPE_DEVICE, context, place);
}

/*
 * A synchronous fill waits only if the host can access the memory or the application requested it.
 */
static CUresult fill(CUdeviceptr to, size_t pitch, uint32_t value, unsigned element, size_t width,
                     size_t height, CUstream handle, bool asynchronous)
{
    soft_stream *stream;
    CUresult result = soft_stream_get(handle, &stream);
    if (result != CUDA_SUCCESS || !width || !height)
        return result;

    fill_block block = {(unsigned char *)(uintptr_t)to, pitch, width, height, value, element};
    enum copy_place place;
    result = check(&block, soft_stream_context(stream), &place);
    if (result == CUDA_SUCCESS)
        result = soft_stream_push_copy(stream, run_fill, &block, sizeof(block));
    bool waits = !asynchronous && (place != COPY_DEVICE || copy_syncs(block.address));
    if (result == CUDA_SUCCESS && waits)
        result = soft_stream_wait(stream);
    return result;
}

SOFT_API_ptds(cuMemsetD8_v2, (CUdeviceptr dstDevice, unsigned char uc, size_t N),
              (dstDevice, uc, N))
{
    return fill(dstDevice, 0, uc, 1, N, 1, NULL, false);
}

SOFT_API_ptds(cuMemsetD16_v2, (CUdeviceptr dstDevice, unsigned short us, size_t N),
              (dstDevice, us, N))
{
    return fill(dstDevice, 0, us, 2, N, 1, NULL, false);
}

SOFT_API_ptds(cuMemsetD32_v2, (CUdeviceptr dstDevice, unsigned int ui, size_t N),
              (dstDevice, ui, N))
{
    return fill(dstDevice, 0, ui, 4, N, 1, NULL, false);
}

SOFT_API_ptds(cuMemsetD2D8_v2,
              (CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
               size_t Height),
              (dstDevice, dstPitch, uc, Width, Height))
{
    return fill(dstDevice, dstPitch, uc, 1, Width, Height, NULL, false);
}

SOFT_API_ptds(cuMemsetD2D16_v2,
              (CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
               size_t Height),
              (dstDevice, dstPitch, us, Width, Height))
{
    return fill(dstDevice, dstPitch, us, 2, Width, Height, NULL, false);
}

SOFT_API_ptds(cuMemsetD2D32_v2,
              (CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
               size_t Height),
              (dstDevice, dstPitch, ui, Width, Height))
{
    return fill(dstDevice, dstPitch, ui, 4, Width, Height, NULL, false);
}

SOFT_API_ptsz(cuMemsetD8Async,
              (CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream),
              (dstDevice, uc, N, hStream))
{
    return fill(dstDevice, 0, uc, 1, N, 1, hStream, true);
}

SOFT_API_ptsz(cuMemsetD16Async,
              (CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream),
              (dstDevice, us, N, hStream))
{
    return fill(dstDevice, 0, us, 2, N, 1, hStream, true);
}

SOFT_API_ptsz(cuMemsetD32Async,
              (CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream),
              (dstDevice, ui, N, hStream))
{
    return fill(dstDevice, 0, ui, 4, N, 1, hStream, true);
}

SOFT_API_ptsz(cuMemsetD2D8Async,
              (CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
               size_t Height, CUstream hStream),
              (dstDevice, dstPitch, uc, Width, Height, hStream))
{
    return fill(dstDevice, dstPitch, uc, 1, Width, Height, hStream, true);
}

SOFT_API_ptsz(cuMemsetD2D16Async,
              (CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
               size_t Height, CUstream hStream),
              (dstDevice, dstPitch, us, Width, Height, hStream))
{
    return fill(dstDevice, dstPitch, us, 2, Width, Height, hStream, true);
}

SOFT_API_ptsz(cuMemsetD2D32Async,
              (CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height,
               CUstream hStream),
              (dstDevice, dstPitch, ui, Width, Height, hStream))
{
    return fill(dstDevice, dstPitch, ui, 4, Width, Height, hStream, true);
}
