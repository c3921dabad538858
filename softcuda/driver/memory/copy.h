/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The copy engine: the common part of linear, 2D and 3D copies. */
#ifndef GR_SOFTCUDA_DRIVER_COPY_H
#define GR_SOFTCUDA_DRIVER_COPY_H

#include "softcuda/driver/stream/scheduler.h"

/* The kind of memory on one side of a copy. It decides whether the call waits. */
enum copy_place {
    COPY_PAGEABLE,
    COPY_PINNED,
    COPY_MANAGED,
    COPY_DEVICE,
};

typedef struct {
    unsigned char *address; /* the address of the first copied byte */
    size_t pitch;           /* bytes between rows */
    size_t slice;           /* bytes between planes */
    enum copy_place place;
} copy_side;

typedef struct {
    copy_side from;
    copy_side to;
    size_t width; /* in bytes */
    size_t height;
    size_t depth;
} copy_block;

/*
 * The context that copies: the current context or, if there is none, the context of the stream. A
 * peer copy names one context per side instead.
 */
const soft_context *copy_party(const soft_stream *stream);

/*
 * Finds the kind of memory of `extent` bytes at `address`; `type` is the type that the application
 * gave. CUDA_ERROR_INVALID_VALUE if the type is wrong, if the bytes are not all in one known range,
 * or if they are virtual or stream-ordered memory to which the context `party` has no access. All
 * devices can copy other memory.
 */
CUresult copy_find_place(const void *address, size_t extent, CUmemorytype type,
                         const soft_context *party, enum copy_place *place);

/*
 * Whether synchronous copies and fills of this memory are complete when they return
 * (CU_POINTER_ATTRIBUTE_SYNC_MEMOPS).
 */
bool copy_syncs(const void *address);

/*
 * Queues the copy. Then waits as NVIDIA documents for these kinds of memory and for a synchronous
 * or asynchronous call. width, height and depth must not be 0.
 */
CUresult copy_submit(soft_stream *stream, const copy_block *block, bool asynchronous);

/*
 * Fills in one side of a copy: the part of an array that begins at byte, row and slice `at`.
 * CUDA_ERROR_INVALID_VALUE if some bytes, rows or slices are outside the array, or if the bytes
 * split an element. CUDA_ERROR_NOT_MAPPED, with a message, for the array of an unmapped graphics
 * resource. (array_copy.c)
 */
CUresult copy_find_array(CUarray array, const size_t at[3], const size_t extent[3],
                         copy_side *side);

/* The contexts that a peer copy names for its two sides. */
typedef struct {
    soft_context *to;
    soft_context *from;
} copy_peers;

/*
 * Initialises the fields that describe one side, src or dst, by those of another struct. A 2D copy
 * has no others.
 */
#define COPY_SIDE(side, given)                                                                     \
    .side##XInBytes = (given)->side##XInBytes, .side##Y = (given)->side##Y,                        \
    .side##MemoryType = (given)->side##MemoryType, .side##Host = (given)->side##Host,              \
    .side##Device = (given)->side##Device, .side##Array = (given)->side##Array,                    \
    .side##Pitch = (given)->side##Pitch

/* Runs the copy that a CUDA_MEMCPY3D describes. `peers` may be NULL. (copy3d.c) */
CUresult copy_3d(const CUDA_MEMCPY3D *given, const copy_peers *peers, CUstream handle,
                 bool asynchronous);

/* One side of a linear copy: memory, or the first row of an array from an offset. */
typedef struct {
    CUmemorytype type; /* the type that the application gave */
    const void *address;
    CUarray array;
    size_t offset;
    const soft_context *party; /* if NULL, copy_party() is used */
} copy_end;

static inline copy_end in_host(const void *address)
{
    return (copy_end){.type = CU_MEMORYTYPE_HOST, .address = address};
}

static inline copy_end in_device(CUdeviceptr pointer)
{
    return (copy_end){.type = CU_MEMORYTYPE_DEVICE, .address = (const void *)(uintptr_t)pointer};
}

static inline copy_end in_array(CUarray array, size_t offset)
{
    return (copy_end){.type = CU_MEMORYTYPE_ARRAY, .array = array, .offset = offset};
}

/* Copies `size` bytes. (copy.c) */
CUresult copy_linear(copy_end to, copy_end from, size_t size, CUstream handle, bool asynchronous);

#endif
