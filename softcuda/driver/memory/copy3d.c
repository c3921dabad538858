/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* 2D and 3D copies. A 2D copy is a 3D copy with one plane. */
#include "softcuda/driver/memory/copy.h"

/* One side of a copy as the application describes it. */
typedef struct {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    size_t pitch;  /* bytes between rows; 0: x plus the width of the copy */
    size_t height; /* rows between planes; 0: y plus the height of the copy */
    CUarray array;
    size_t x, y, z;
    const soft_context *party;
} described_side;

/* Computes *sum += a * b; false on overflow. */
static bool add_product(size_t *sum, size_t a, size_t b)
{
    size_t product;
    return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(*sum, product, sum);
}

/*
 * Replaces a pitch or height of 0, which means packed. False if the pitch or the height is too
 * small.
 */
static bool resolve_pitch(const described_side *described, const copy_block *block, size_t *pitch,
                          size_t *height)
{
    size_t row = described->x, rows = described->y;
    if (!add_product(&row, block->width, 1) || !add_product(&rows, block->height, 1))
        return false;
    *pitch = described->pitch ? described->pitch : row;
    *height = described->height ? described->height : rows;
    return row <= *pitch && rows <= *height;
}

/*
 * Finds the first byte of one side of a copy, and the number of bytes from the first to the last.
 */
static CUresult resolve_side(const described_side *described, const copy_block *block,
                             copy_side *side)
{
    if (described->type == CU_MEMORYTYPE_ARRAY)
        return copy_find_array(described->array,
                               (size_t[]){described->x, described->y, described->z},
                               (size_t[]){block->width, block->height, block->depth}, side);
    SOFT_FAIL_IF(described->type < CU_MEMORYTYPE_HOST || described->type > CU_MEMORYTYPE_UNIFIED,
                 CUDA_ERROR_INVALID_VALUE);
    size_t pitch, height;
    SOFT_FAIL_IF(!resolve_pitch(described, block, &pitch, &height), CUDA_ERROR_INVALID_VALUE);

    size_t slice = 0, offset = described->x, extent = block->width;
    bool fits = add_product(&slice, pitch, height) && add_product(&offset, described->y, pitch) &&
                add_product(&offset, described->z, slice) &&
                add_product(&extent, block->height - 1, pitch) &&
                add_product(&extent, block->depth - 1, slice);
    const unsigned char *base = described->type == CU_MEMORYTYPE_HOST
                                    ? described->host
                                    : (const unsigned char *)(uintptr_t)described->device;
    SOFT_FAIL_IF(!fits || !base, CUDA_ERROR_INVALID_VALUE);
    side->address = (unsigned char *)(uintptr_t)base + offset;
    side->pitch = pitch;
    side->slice = slice;
    return copy_find_place(side->address, extent, described->type, described->party, &side->place);
}

CUresult copy_3d(const CUDA_MEMCPY3D *given, const copy_peers *peers, CUstream handle,
                 bool asynchronous)
{
    SOFT_GET(soft_stream *, stream, soft_stream_get(handle, &stream));
    SOFT_FAIL_IF(!given, CUDA_ERROR_INVALID_VALUE);
    copy_block block = {
        .width = given->WidthInBytes, .height = given->Height, .depth = given->Depth};
    if (!block.width || !block.height || !block.depth)
        return CUDA_SUCCESS;

#define DESCRIBED(src)                                                                             \
    .type = given->src##MemoryType, .host = given->src##Host, .device = given->src##Device,        \
    .array = given->src##Array, .pitch = given->src##Pitch, .height = given->src##Height,          \
    .x = given->src##XInBytes, .y = given->src##Y, .z = given->src##Z

    described_side from = {DESCRIBED(src), .party = peers ? peers->from : copy_party(stream)};
    described_side to = {DESCRIBED(dst), .party = peers ? peers->to : copy_party(stream)};
#undef DESCRIBED
    SOFT_TRY(resolve_side(&from, &block, &block.from));
    SOFT_TRY(resolve_side(&to, &block, &block.to));
    return copy_submit(stream, &block, asynchronous);
}

static CUresult copy_2d(const CUDA_MEMCPY2D *given, CUstream stream, bool asynchronous)
{
    if (!given)
        return copy_3d(NULL, NULL, stream, asynchronous);
    CUDA_MEMCPY3D whole = {
        COPY_SIDE(src, given),
        COPY_SIDE(dst, given),
        .WidthInBytes = given->WidthInBytes,
        .Height = given->Height,
        .Depth = 1,
    };
    return copy_3d(&whole, NULL, stream, asynchronous);
}

SOFT_API_both(cuMemcpy2D_v2, cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *pCopy),
              copy_2d(pCopy, stream, asynchronous))

/*
 * cuMemcpy2D may refuse some pitches that this call accepts. This driver accepts them in both
 * calls.
 */
SOFT_API_ptds(cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D *pCopy), (pCopy))
{
    return copy_2d(pCopy, NULL, false);
}

SOFT_API_both(cuMemcpy3D_v2, cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *pCopy),
              copy_3d(pCopy, NULL, stream, asynchronous))
