/* SPDX-License-Identifier: Apache-2.0 */
/* What a copy needs: events and memory of CUDA's, and host memory that both sides come to. */
#ifndef GR_GL_COPY_MEMORY_H
#define GR_GL_COPY_MEMORY_H

#include "lib/retire.h"
#include "gl/object.h"

/* No image has more levels. */
#define GL_COPY_MOST_LEVELS 32

/* How many pieces a large buffer is moved in, at the most. */
#define GL_COPY_MOST_PIECES 8

/*
 * Up to this size what CUDA only writes is copied by the processor, although OpenGL could keep
 * memory mapped. That memory is to be written again when OpenGL has copied out of it: a wait for
 * OpenGL in each frame, for which a GPU that both share has to switch. The processor's copy waits
 * for CUDA only, and leaves it to OpenGL when to begin. Frames in order on an H200, by the
 * processor and by mapped memory: 222 and 355 us for 64 KiB, 112 and 362 for 256 KiB, 406 and 354
 * for 512 KiB. On llvmpipe a release of 64 KiB takes 16 us and 21, of 512 KiB 50 and 41; into
 * storage that grinterop made 13 and 74, and 36 and 90.
 */
#define GL_COPY_BY_PROCESSOR      ((size_t)256 << 10)
#define GL_COPY_BY_PROCESSOR_TEXT "256 KiB"

/*
 * How many frames that CUDA only writes may lie in mapped memory at once: it writes one while
 * OpenGL has not copied those before it. In order a frame of 16 MiB takes 1008 us on an H200,
 * and 1175 with one part.
 */
#define GL_COPY_TURNS (GL_OLDER_FENCES + 1)

/* Where the host memory is OpenGL's, see staging.h. */
struct gl_staging {
    unsigned char *bytes; /* as registered with CUDA; NULL: the host memory is CUDA's own */
    size_t first, stride; /* where in OpenGL's buffer they begin; from one half to the other */
    bool is_object;       /* the buffer is the object that CUDA shares */
};

/* What a resource of this transport has beside its struct gl_resource. */
struct gl_copy {
    struct gr_retired retired; /* where a stream still works with it when the resource is closed */
    size_t size;               /* bytes of the object as CUDA sees it */
    CUdeviceptr ptr;           /* of a buffer */
    /*
     * Bytes on their way. A second half where maps can run ahead of the stream, which is with
     * read_only: the other releases wait for it. Mapped memory has a part for each turn of
     * write_discard.
     */
    unsigned char *host[GL_COPY_TURNS];
    struct gl_staging staging;
    char way[160];        /* which host memory it is, and why, for gr_resource_describe() */
    CUevent passed[2];    /* the stream has read what a map left in that half */
    unsigned half;        /* the one that was used last */
    CUevent done;         /* the stream is through with the last mapping */
    unsigned turns, turn; /* of what CUDA writes: how many parts there are, the one used last */
    CUevent piece_ends[GL_COPY_MOST_PIECES]; /* of a large buffer: each piece is in that part */
    bool owed;    /* that part is to have, after `done`, what the object has not got yet */
    bool fetched; /* that half has, after the fence, what a ring's next map is to read */
    struct gl_names *scratch;
    /* Of an image: where levels begin in the host memory, and all levels of each layer. */
    size_t offsets[GL_COPY_MOST_LEVELS];
    CUmipmappedArray whole; /* a copy of all layers in one, once it was asked for */
    unsigned layer_count;
    CUmipmappedArray layers[];
};

/*
 * Ends all of it but the event `done`; without the CUDA context OpenGL's part and memory are left.
 */
void gl_copy_end(struct gr_retired *retired, bool alive);

/* Which directions there are. */
static inline bool gl_copy_reads(const gr_resource *resource)
{
    return !(resource->flags & GR_WRITE_DISCARD);
}

static inline bool gl_copy_writes(const gr_resource *resource)
{
    return !(resource->flags & GR_READ_ONLY);
}

/*
 * Whether a map has to give the object what a ring's release has left. Only a ring that discards
 * need not, which writes all of it anew.
 */
static inline bool gl_copy_gives_first(const struct gl_resource *r)
{
    return r->copy->owed && (gl_copy_reads(&r->base) || !r->base.ring_maps);
}

/* What of a buffer is mapped, or about to be. */
static inline const gr_buffer *gl_copy_part(const struct gl_resource *r)
{
    return r->base.mapped ? r->base.mapped : r->base.pending;
}

#endif
