/* SPDX-License-Identifier: Apache-2.0 */
/* The copy engine: what linear, 2D and 3D copies have in common. */
#ifndef GR_SOFTCUDA_DRIVER_COPY_H
#define GR_SOFTCUDA_DRIVER_COPY_H

#include "softcuda/driver/stream/scheduler.h"

/* Where the bytes of one side lie, which decides what waits for what. */
enum copy_place {
    COPY_PAGEABLE,
    COPY_PINNED,
    COPY_MANAGED,
    COPY_DEVICE,
};

typedef struct {
    unsigned char *address; /* of the first byte copied */
    size_t pitch;           /* bytes from row to row */
    size_t slice;           /* bytes from plane to plane */
    enum copy_place place;
} copy_side;

typedef struct {
    copy_side from;
    copy_side to;
    size_t width; /* in bytes */
    size_t height;
    size_t depth;
} copy_block;

/* Who copies, for what follows: the current context, or the stream's if there is none. A copy
 * between peers names one for each side. */
const soft_context *copy_party(const soft_stream *stream);

/* Finds the place of extent bytes at address, which the application says are of this type.
 * CUDA_ERROR_INVALID_VALUE if they can't be, aren't all in one known range, or are virtual or
 * stream-ordered memory that the party can't touch. Other memory all can copy, on any device. */
CUresult copy_find_place(const void *address, size_t extent, CUmemorytype type,
                         const soft_context *party, enum copy_place *place);

/* Whether synchronous copies and fills of the memory end before they return, as
 * CU_POINTER_ATTRIBUTE_SYNC_MEMOPS asks. */
bool copy_syncs(const void *address);

/* Queues the copy and waits as much as NVIDIA documents for these places and for an asynchronous or
 * a synchronous call. width, height and depth aren't 0. */
CUresult copy_submit(soft_stream *stream, const copy_block *block, bool asynchronous);

/* Fills in the side that is an array, from byte, row and slice `at`. CUDA_ERROR_INVALID_VALUE if
 * the bytes, rows and slices aren't all inside, or split an element; CUDA_ERROR_NOT_MAPPED, with a
 * line, for a graphics resource's array that isn't mapped. (array_copy.c) */
CUresult copy_find_array(CUarray array, const size_t at[3], const size_t extent[3],
                         copy_side *side);

/* The contexts that a copy between peers names. */
typedef struct {
    soft_context *to;
    soft_context *from;
} copy_peers;

/* A copy that CUDA_MEMCPY3D describes; peers may be NULL. (copy3d.c) */
CUresult copy_3d(const CUDA_MEMCPY3D *given, const copy_peers *peers, CUstream handle,
                 bool asynchronous);

/* Likewise a linear one, of device memory. (copy.c) */
CUresult copy_linear(CUdeviceptr to, CUdeviceptr from, size_t size, const copy_peers *peers,
                     CUstream handle, bool asynchronous);

#endif
