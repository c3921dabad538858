/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The CUDA events and memory of the copy transport, and the host memory that both APIs access. */
#ifndef GR_GL_COPY_MEMORY_H
#define GR_GL_COPY_MEMORY_H

#include "lib/cuda/end_after_event.h"
#include "gl/object/object.h"

/* The maximum number of levels of an image. */
#define GL_COPY_MOST_LEVELS 32

/* The maximum number of pieces of a large buffer. */
#define GL_COPY_MOST_PIECES 8

/*
 * The number of parts of mapped memory that CUDA only writes: CUDA writes one part while OpenGL has
 * not yet copied the earlier frames from the other parts. A 16 MiB frame in order takes 1008 µs on
 * an H200 with these parts, against 1175 µs with one part.
 */
#define GL_COPY_TURNS (GL_OLDER_FENCES + 1)

/* Memory for the bytes in transit that is an OpenGL buffer (staging.h). */
struct gl_staging {
    /*
     * the mapping, registered with CUDA, or the address of `shared`; NULL if CUDA allocated the
     * host memory
     */
    unsigned char *bytes;
    struct gr_import *shared; /* for the peer transport: memory of the GPU that draws */
    size_t first, stride; /* the offset in the OpenGL buffer, and the distance between two halves */
    bool is_object;       /* the buffer is the shared object itself */
};

/* The fields of a struct gl_resource for the copy transport, and for images by peer. */
struct gl_copy {
    struct gr_ending ending; /* allows closing a resource while a stream still uses it */
    size_t size;             /* the size of the object in CUDA, in bytes */
    CUdeviceptr ptr;         /* for buffers, and for depth that CUDA converts */
    /*
     * The memory for the bytes in transit. read_only resources have two halves, so that maps
     * can run ahead of the stream. The other resources need only one, because their releases wait
     * for the stream. In an OpenGL buffer, write_discard resources have GL_COPY_TURNS parts.
     */
    unsigned char *host[GL_COPY_TURNS];
    struct gl_staging staging;
    char way[160];     /* the host memory in use, and why, for gr_resource_describe() */
    CUevent passed[2]; /* events after the stream has read each half */
    unsigned half;     /* the half that was used last */
    /* for writes by CUDA: the number of parts, and the part that was used last */
    unsigned turns, turn;
    CUevent piece_ends[GL_COPY_MOST_PIECES]; /* for large buffers: an event after each piece */
    bool owed; /* after the last work, the current part contains data that is not in the object yet
                */
    /*
     * a ring has started to copy the data for the next map: the data is in the current half once
     * the fence of `scratch` is signalled
     */
    bool fetched;
    struct gl_names *scratch;
    /*
     * For images only: the offsets of the levels in host memory, and one mipmapped array per layer.
     */
    size_t offsets[GL_COPY_MOST_LEVELS];
    CUmipmappedArray whole; /* a copy of all layers, created at the first use; NULL before */
    unsigned layer_count;
    CUmipmappedArray layers[];
};

/*
 * Whether a map must first write the data of the last ring release to the object. This is not
 * needed with write_discard in a ring, because the next release overwrites all of the data.
 */
static inline bool gl_copy_writes_first(const struct gl_resource *r)
{
    return r->copy->owed && (gr_resource_reads(&r->base) || !r->base.in_a_ring);
}

/* Returns the mapped part of a buffer, also while the map is in progress. */
static inline const gr_buffer *gl_copy_part(const struct gl_resource *r)
{
    return r->base.mapped ? r->base.mapped : r->base.pending;
}

#endif
