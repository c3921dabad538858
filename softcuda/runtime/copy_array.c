/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The older functions that copy to and from arrays: rectangles, and byte ranges that continue in
 * the next row at the end of a row. Offsets within rows are in bytes.
 */
#include "softcuda/runtime/channel.h"
#include "softcuda/runtime/copy.h"

/* One side of a copy: a position in an array, or linear memory. */
struct side {
    bool is_array;
    cudaArray_const_t array;
    size_t x, y;
    size_t row; /* bytes per row of the array */
    unsigned char *memory;
    size_t pitch;
};

#define ARRAY(a, x_bytes, row_number)                                                              \
    ((struct side){.is_array = true, .array = (a), .x = (x_bytes), .y = (row_number)})
#define MEMORY(pointer, row_pitch)                                                                 \
    ((struct side){.memory = (unsigned char *)(pointer), .pitch = (row_pitch)})

static CUresult copy_sides(const struct side *to, const struct side *from, size_t width,
                           size_t height, enum cudaMemcpyKind kind, rt_order order)
{
    CUDA_MEMCPY3D box = {.srcXInBytes = from->x,
                         .srcY = from->y,
                         .dstXInBytes = to->x,
                         .dstY = to->y,
                         .WidthInBytes = width,
                         .Height = height,
                         .Depth = 1};
    rt_box_from(&box, from->array, from->memory, from->pitch, kind);
    rt_box_to(&box, to->array, to->memory, to->pitch, kind);
    return rt_copy_box(&box, order);
}

/* ---- Rectangles ------------------------------------------------------------------------------ */

/*
 * Copies between an array and memory. A single row needs no pitch: the CUDA samples pass 0 for it.
 */
static CUresult copy_rectangle(struct side to, struct side from, size_t width, size_t height,
                               enum cudaMemcpyKind kind, rt_order order)
{
    struct side *memory = to.is_array ? &from : &to;
    SOFT_FAIL_IF(!rt_is_kind(kind), RT_ERROR_DIRECTION);
    if (memory->pitch == 0 && height == 1)
        memory->pitch = width;
    SOFT_FAIL_IF(width > memory->pitch, RT_ERROR_PITCH);
    return copy_sides(&to, &from, width, height, kind, order);
}

RT_API_both(cudaMemcpy2DToArray,
            (cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch,
             size_t width, size_t height, enum cudaMemcpyKind kind),
            copy_rectangle(ARRAY(dst, wOffset, hOffset), MEMORY(src, spitch), width, height, kind,
                           order))

RT_API_both(cudaMemcpy2DFromArray,
            (void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset,
             size_t width, size_t height, enum cudaMemcpyKind kind),
            copy_rectangle(MEMORY(dst, dpitch), ARRAY(src, wOffset, hOffset), width, height, kind,
                           order))

static CUresult array_to_array(struct side to, struct side from, size_t width, size_t height,
                               enum cudaMemcpyKind kind)
{
    SOFT_FAIL_IF(kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault, RT_ERROR_DIRECTION);
    return copy_sides(&to, &from, width, height, kind, RT_BLOCKING);
}

RT_FORWARD_ptds(cudaMemcpy2DArrayToArray,
                (cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
                 size_t wOffsetSrc, size_t hOffsetSrc, size_t width, size_t height,
                 enum cudaMemcpyKind kind),
                array_to_array(ARRAY(dst, wOffsetDst, hOffsetDst),
                               ARRAY(src, wOffsetSrc, hOffsetSrc), width, height, kind))

/* ---- Byte ranges that continue in the next row ----------------------------------------------- */

static CUresult row_of(cudaArray_const_t array, size_t *row)
{
    SOFT_GET(CUDA_ARRAY3D_DESCRIPTOR, has, cuArray3DGetDescriptor_v2(&has, (CUarray)array));
    *row = has.Width * rt_element_size(has.Format, has.NumChannels);
    return CUDA_SUCCESS;
}

static size_t left_in_row(const struct side *side, size_t wanted)
{
    size_t left = side->array ? side->row - side->x : wanted;
    return left < wanted ? left : wanted;
}

static void advance(struct side *side, size_t bytes)
{
    if (!side->array) {
        side->memory += bytes;
        return;
    }
    side->x += bytes;
    if (side->x == side->row) {
        side->x = 0;
        side->y++;
    }
}

static CUresult copy_runs(struct side to, struct side from, size_t count, enum cudaMemcpyKind kind,
                          rt_order order)
{
    SOFT_FAIL_IF(!rt_is_kind(kind), RT_ERROR_DIRECTION);
    if (to.array)
        SOFT_TRY(row_of(to.array, &to.row));
    if (from.array)
        SOFT_TRY(row_of(from.array, &from.row));
    SOFT_FAIL_IF((to.array && to.x >= to.row) || (from.array && from.x >= from.row),
                 CUDA_ERROR_INVALID_VALUE);
    while (count > 0) {
        size_t bytes = left_in_row(&to, left_in_row(&from, count));
        SOFT_TRY(copy_sides(&to, &from, bytes, 1, kind, order));
        advance(&to, bytes);
        advance(&from, bytes);
        count -= bytes;
    }
    return CUDA_SUCCESS;
}

RT_API_both(cudaMemcpyToArray,
            (cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,
             enum cudaMemcpyKind kind),
            copy_runs(ARRAY(dst, wOffset, hOffset), MEMORY(src, count), count, kind, order))

RT_API_both(cudaMemcpyFromArray,
            (void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
             enum cudaMemcpyKind kind),
            copy_runs(MEMORY(dst, count), ARRAY(src, wOffset, hOffset), count, kind, order))

RT_FORWARD_ptds(cudaMemcpyArrayToArray,
                (cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
                 size_t wOffsetSrc, size_t hOffsetSrc, size_t count, enum cudaMemcpyKind kind),
                copy_runs(ARRAY(dst, wOffsetDst, hOffsetDst), ARRAY(src, wOffsetSrc, hOffsetSrc),
                          count, kind, RT_BLOCKING))
