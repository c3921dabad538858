/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The CUDA events and memory of a copy, and the host memory that both APIs access. */
#ifndef GR_GL_COPY_MEMORY_H
#define GR_GL_COPY_MEMORY_H

#include "lib/retire.h"
#include "gl/object.h"

/* The most levels that an image can have. */
#define GL_COPY_MOST_LEVELS 32

/* The most pieces that a large buffer is split into. */
#define GL_COPY_MOST_PIECES 8

/*
 * Up to this size the CPU copies data that CUDA only writes, even if OpenGL can keep memory mapped.
 * Mapped memory can be rewritten only after OpenGL has copied from it. That means a wait for OpenGL
 * in each frame, and a context switch on a GPU that both APIs share. The CPU copy waits only for
 * CUDA, and OpenGL may start at any time. Microseconds per frame in order on an H200, by CPU copy
 * and by mapped memory: 222 and 355 for 64 KiB, 112 and 362 for 256 KiB, 406 and 354 for 512 KiB.
 * On llvmpipe a release takes 16 and 21 µs for 64 KiB, 50 and 41 for 512 KiB; into storage that
 * grinterop allocated 13 and 74, and 36 and 90.
 */
#define GL_COPY_BY_CPU      ((size_t)256 << 10)
#define GL_COPY_BY_CPU_TEXT "256 KiB"

/*
 * The most frames in mapped memory that CUDA only writes: CUDA writes one while OpenGL has not yet
 * copied the earlier ones. A 16 MiB frame in order takes 1008 µs on an H200, against 1175 µs with
 * one part.
 */
#define GL_COPY_TURNS (GL_OLDER_FENCES + 1)

/* Host memory that OpenGL allocates (staging.h). */
struct gl_staging {
    unsigned char *bytes; /* registered with CUDA; NULL if CUDA allocated the host memory */
    size_t first, stride; /* offset in the OpenGL buffer; distance between halves */
    bool is_object;       /* the buffer is the shared object itself */
};

/* The copy transport's part of a struct gl_resource. */
struct gl_copy {
    struct gr_retired
        retired;     /* used if a stream still works with it when the resource is closed */
    size_t size;     /* size in bytes of the object in CUDA */
    CUdeviceptr ptr; /* buffers only */
    /*
     * The bytes in transit. read_only has a second half, so that maps can run ahead of the stream;
     * other releases wait for the stream. In mapped memory, write_discard has one part per turn.
     */
    unsigned char *host[GL_COPY_TURNS];
    struct gl_staging staging;
    char way[160];        /* which host memory is used and why, for gr_resource_describe() */
    CUevent passed[2];    /* recorded after the stream has read that half */
    unsigned half;        /* the half used last */
    CUevent done;         /* recorded after the last mapping's work */
    unsigned turns, turn; /* for writes by CUDA: the number of parts, and the one used last */
    CUevent piece_ends[GL_COPY_MOST_PIECES]; /* large buffers: recorded after each piece */
    bool owed;    /* after `done`, the current part holds data that the object lacks */
    bool fetched; /* after the fence, the current half holds the data for the next map in a ring */
    struct gl_names *scratch;
    /* Images only: the offsets of the levels in host memory, and one mipmapped array per layer. */
    size_t offsets[GL_COPY_MOST_LEVELS];
    CUmipmappedArray whole; /* a copy with all layers, created on request */
    unsigned layer_count;
    CUmipmappedArray layers[];
};

/*
 * Frees everything but the event `done`. Without the CUDA context (`alive` is false) it frees only
 * OpenGL objects and memory.
 */
void gl_copy_end(struct gr_retired *retired, bool alive);

/*
 * Whether a map must first write the data of the last ring release to the object. Not needed with
 * write_discard in a ring, since the next release overwrites all of it.
 */
static inline bool gl_copy_writes_first(const struct gl_resource *r)
{
    return r->copy->owed && (gl_object_reads(&r->base) || !r->base.ring_maps);
}

/* The mapped part of a buffer, also while the map is in progress. */
static inline const gr_buffer *gl_copy_part(const struct gl_resource *r)
{
    return r->base.mapped ? r->base.mapped : r->base.pending;
}

#endif
