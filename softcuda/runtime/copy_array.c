/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The older copies to and from arrays: rectangles, and byte ranges that wrap around at row ends.
 * Offsets within rows are in bytes.
 */
#include "softcuda/runtime/channel.h"
#include "softcuda/runtime/copy.h"

/* Sets the extent of the copy. A single row needs no pitch: CUDA's samples pass 0 for it. */
static CUresult rectangle(CUDA_MEMCPY3D *box, size_t *pitch, size_t width, size_t height,
                          enum cudaMemcpyKind kind)
{
    if (!rt_is_kind(kind))
        return RT_ERROR_DIRECTION;
    if (*pitch == 0 && height == 1)
        *pitch = width;
    if (width > *pitch)
        return RT_ERROR_PITCH;
    *box = (CUDA_MEMCPY3D){.WidthInBytes = width, .Height = height, .Depth = 1};
    return CUDA_SUCCESS;
}

static CUresult to_array(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind, rt_order order)
{
    CUDA_MEMCPY3D box;
    CUresult result = rectangle(&box, &pitch, width, height, kind);
    if (result != CUDA_SUCCESS)
        return result;
    rt_box_from(&box, from, pitch, kind);
    rt_box_to_array(&box, to, x, y);
    return rt_copy_box(&box, order);
}

RT_API_ptds(cudaMemcpy2DToArray,
            (cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch,
             size_t width, size_t height, enum cudaMemcpyKind kind),
            (dst, wOffset, hOffset, src, spitch, width, height, kind))
{
    return RT_IN_CONTEXT(
        to_array(dst, wOffset, hOffset, src, spitch, width, height, kind, RT_BLOCKING));
}

RT_API_ptsz(cudaMemcpy2DToArrayAsync,
            (cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch,
             size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
            (dst, wOffset, hOffset, src, spitch, width, height, kind, stream))
{
    return RT_IN_CONTEXT(
        to_array(dst, wOffset, hOffset, src, spitch, width, height, kind, RT_QUEUED_ON(stream)));
}

static CUresult from_array(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                           size_t width, size_t height, enum cudaMemcpyKind kind, rt_order order)
{
    CUDA_MEMCPY3D box;
    CUresult result = rectangle(&box, &pitch, width, height, kind);
    if (result != CUDA_SUCCESS)
        return result;
    rt_box_from_array(&box, from, x, y);
    rt_box_to(&box, to, pitch, kind);
    return rt_copy_box(&box, order);
}

RT_API_ptds(cudaMemcpy2DFromArray,
            (void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset,
             size_t width, size_t height, enum cudaMemcpyKind kind),
            (dst, dpitch, src, wOffset, hOffset, width, height, kind))
{
    return RT_IN_CONTEXT(
        from_array(dst, dpitch, src, wOffset, hOffset, width, height, kind, RT_BLOCKING));
}

RT_API_ptsz(cudaMemcpy2DFromArrayAsync,
            (void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset,
             size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
            (dst, dpitch, src, wOffset, hOffset, width, height, kind, stream))
{
    return RT_IN_CONTEXT(
        from_array(dst, dpitch, src, wOffset, hOffset, width, height, kind, RT_QUEUED_ON(stream)));
}

static CUresult array_to_array(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                               size_t from_x, size_t from_y, size_t width, size_t height,
                               enum cudaMemcpyKind kind)
{
    if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return RT_ERROR_DIRECTION;
    CUDA_MEMCPY3D box = {.WidthInBytes = width, .Height = height, .Depth = 1};
    rt_box_from_array(&box, from, from_x, from_y);
    rt_box_to_array(&box, to, to_x, to_y);
    return rt_copy_box(&box, RT_BLOCKING);
}

RT_API_ptds(cudaMemcpy2DArrayToArray,
            (cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
             size_t wOffsetSrc, size_t hOffsetSrc, size_t width, size_t height,
             enum cudaMemcpyKind kind),
            (dst, wOffsetDst, hOffsetDst, src, wOffsetSrc, hOffsetSrc, width, height, kind))
{
    return RT_IN_CONTEXT(array_to_array(dst, wOffsetDst, hOffsetDst, src, wOffsetSrc, hOffsetSrc,
                                        width, height, kind));
}

/* ---- Byte ranges that wrap around at row ends ------------------------------------------------ */

/* One side of such a copy: a position in an array, or linear memory. */
struct run {
    cudaArray_const_t array;
    unsigned char *memory;
    size_t row; /* bytes per row of the array */
    size_t x, y;
};

static CUresult row_of(cudaArray_const_t array, size_t *row)
{
    CUDA_ARRAY3D_DESCRIPTOR has;
    CUresult result = cuArray3DGetDescriptor_v2(&has, (CUarray)array);
    if (result == CUDA_SUCCESS)
        *row = has.Width * rt_element_size(has.Format, has.NumChannels);
    return result;
}

static size_t left_in_row(const struct run *run, size_t wanted)
{
    size_t left = run->array ? run->row - run->x : wanted;
    return left < wanted ? left : wanted;
}

static void advance(struct run *run, size_t bytes)
{
    if (!run->array) {
        run->memory += bytes;
        return;
    }
    run->x += bytes;
    if (run->x == run->row) {
        run->x = 0;
        run->y++;
    }
}

static CUresult copy_runs(struct run to, struct run from, size_t count, enum cudaMemcpyKind kind,
                          rt_order order)
{
    CUresult result = rt_is_kind(kind) ? CUDA_SUCCESS : RT_ERROR_DIRECTION;
    if (result == CUDA_SUCCESS && to.array)
        result = row_of(to.array, &to.row);
    if (result == CUDA_SUCCESS && from.array)
        result = row_of(from.array, &from.row);
    if (result == CUDA_SUCCESS &&
        ((to.array && to.x >= to.row) || (from.array && from.x >= from.row)))
        result = CUDA_ERROR_INVALID_VALUE;
    while (count > 0 && result == CUDA_SUCCESS) {
        size_t bytes = left_in_row(&to, left_in_row(&from, count));
        CUDA_MEMCPY3D box = {.WidthInBytes = bytes, .Height = 1, .Depth = 1};
        if (from.array)
            rt_box_from_array(&box, from.array, from.x, from.y);
        else
            rt_box_from(&box, from.memory, bytes, kind);
        if (to.array)
            rt_box_to_array(&box, to.array, to.x, to.y);
        else
            rt_box_to(&box, to.memory, bytes, kind);
        result = rt_copy_box(&box, order);
        advance(&to, bytes);
        advance(&from, bytes);
        count -= bytes;
    }
    return result;
}

#define ARRAY(a, x_bytes, row_number)                                                              \
    ((struct run){.array = (a), .x = (x_bytes), .y = (row_number)})
#define MEMORY(pointer) ((struct run){.memory = (unsigned char *)(pointer)})

RT_API_ptds(cudaMemcpyToArray,
            (cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,
             enum cudaMemcpyKind kind),
            (dst, wOffset, hOffset, src, count, kind))
{
    return RT_IN_CONTEXT(
        copy_runs(ARRAY(dst, wOffset, hOffset), MEMORY(src), count, kind, RT_BLOCKING));
}

RT_API_ptsz(cudaMemcpyToArrayAsync,
            (cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,
             enum cudaMemcpyKind kind, cudaStream_t stream),
            (dst, wOffset, hOffset, src, count, kind, stream))
{
    return RT_IN_CONTEXT(
        copy_runs(ARRAY(dst, wOffset, hOffset), MEMORY(src), count, kind, RT_QUEUED_ON(stream)));
}

RT_API_ptds(cudaMemcpyFromArray,
            (void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
             enum cudaMemcpyKind kind),
            (dst, src, wOffset, hOffset, count, kind))
{
    return RT_IN_CONTEXT(
        copy_runs(MEMORY(dst), ARRAY(src, wOffset, hOffset), count, kind, RT_BLOCKING));
}

RT_API_ptsz(cudaMemcpyFromArrayAsync,
            (void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
             enum cudaMemcpyKind kind, cudaStream_t stream),
            (dst, src, wOffset, hOffset, count, kind, stream))
{
    return RT_IN_CONTEXT(
        copy_runs(MEMORY(dst), ARRAY(src, wOffset, hOffset), count, kind, RT_QUEUED_ON(stream)));
}

RT_API_ptds(cudaMemcpyArrayToArray,
            (cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
             size_t wOffsetSrc, size_t hOffsetSrc, size_t count, enum cudaMemcpyKind kind),
            (dst, wOffsetDst, hOffsetDst, src, wOffsetSrc, hOffsetSrc, count, kind))
{
    return RT_IN_CONTEXT(copy_runs(ARRAY(dst, wOffsetDst, hOffsetDst),
                                   ARRAY(src, wOffsetSrc, hOffsetSrc), count, kind, RT_BLOCKING));
}
