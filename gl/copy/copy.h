/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The copy transport: copies between an OpenGL object and CUDA memory through pinned host memory.
 */
#ifndef GR_GL_COPY_COPY_H
#define GR_GL_COPY_COPY_H

#include <cuda.h>
#include <grinterop/gl.h>

#include "lib/cuda/end_after_event.h"
#include "gl/arrays/arrays.h"
#include "gl/object/object.h"

extern const struct gr_backend gl_copy;

extern const struct gl_maker gl_copy_maker;

/* ---- The memory of a resource ---------------------------------------------------------------- */

/* The maximum number of pieces of a large buffer. */
#define GL_COPY_MOST_PIECES 8

/*
 * The number of parts of mapped memory that CUDA only writes: CUDA writes one part while OpenGL has
 * not yet copied the earlier frames from the other parts. A 16 MiB frame in order takes 1008 µs on
 * an H200 with these parts, against 1175 µs with one part.
 */
#define GL_COPY_TURNS (GL_OLDER_FENCES + 1)

/* The memory for the bytes in transit. */
enum gl_staging {
    GL_STAGING_NONE,   /* pinned host memory of CUDA: this thread copies between it and OpenGL */
    GL_STAGING_BUFFER, /* an OpenGL buffer that stays mapped, and is registered with CUDA */
    GL_STAGING_OBJECT  /* the same, but the buffer is the shared object itself */
};

/* The fields of a struct gl_resource for the copy transport. */
struct gl_copy {
    struct gr_ending ending;  /* allows closing a resource while a stream still uses it */
    size_t size;              /* the size of the object in CUDA, in bytes */
    CUdeviceptr ptr;          /* for buffers */
    struct gl_arrays *arrays; /* for images: those of the resource */
    /*
     * The memory for the bytes in transit: `turns` parts at a distance of `stride`; `turn` is the
     * part that was used last. read_only resources have two parts, so that maps can run ahead of
     * the stream. The other resources need only one, because their releases wait for the stream. In
     * a separate OpenGL buffer, write_discard resources have GL_COPY_TURNS parts.
     */
    unsigned char *host;
    size_t stride;
    unsigned turns, turn;
    enum gl_staging staging;
    size_t first;      /* the offset of the first part in the OpenGL buffer */
    char way[160];     /* the host memory in use, and why, for gr_resource_describe() */
    CUevent passed[2]; /* for reads by CUDA: events after the stream has read each part */
    CUevent piece_ends[GL_COPY_MOST_PIECES]; /* for large buffers: an event after each piece */
    bool owed; /* after the last work, the current part contains data that is not in the object yet
                */
    /*
     * a ring has started to copy the data for the next map: the data is in the current part once
     * the fence of `scratch` is signalled
     */
    bool fetched;
    struct gl_names *scratch;
};

/*
 * Whether a map must first write the data of the last ring release to the object. This is not
 * needed with write_discard in a ring, because the next release overwrites all of the data.
 */
static inline bool gl_copy_writes_first(const struct gl_resource *r)
{
    return r->copy->owed && (gr_resource_reads(&r->base) || !r->base.in_a_ring);
}

/* Returns the current part of the memory: its address, and its offset in the OpenGL buffer. */
static inline unsigned char *gl_copy_host(const struct gl_copy *copy)
{
    return copy->host + copy->turn * copy->stride;
}

static inline size_t gl_copy_offset(const struct gl_copy *copy)
{
    return copy->first + copy->turn * copy->stride;
}

/* Returns the mapped part of a buffer, also while the map is in progress. */
static inline const gr_buffer *gl_copy_part(const struct gl_resource *r)
{
    return r->base.current;
}

/*
 * Frees everything except the event `done`. Without the CUDA context (`alive` is false) frees only
 * OpenGL objects and memory.
 */
void gl_copy_end(struct gr_ending *ending, bool alive);

/* ---- Pieces and waits: memory.c -------------------------------------------------------------- */

/*
 * The pieces of a buffer, of `step` bytes each; the last piece may be shorter. There is only one
 * piece if splitting would not be faster.
 */
struct gl_pieces {
    size_t size, step;
    unsigned count;
};

/* Splits `size` bytes of a buffer into pieces. */
struct gl_pieces gl_pieces_of(const struct gl_copy *copy, size_t size);

/* Returns the size of the piece that starts at `at`. */
static inline size_t gl_piece_size(const struct gl_pieces *pieces, size_t at)
{
    return pieces->size - at < pieces->step ? pieces->size - at : pieces->step;
}

/*
 * Creates the events for large buffers; gl_copy_end() destroys them. The CUDA context is current.
 */
gr_status gl_pieces_make_events(struct gl_copy *copy);

/*
 * Blocks the thread until the event is reached. If the copy is large, first flushes OpenGL, so that
 * OpenGL works in the meantime.
 */
gr_status gl_copy_wait(CUevent event, const gr_resource *resource);

/* Selects the next part for a read by CUDA, once no stream reads that part any more. */
gr_status gl_copy_select_next(const struct gl_resource *r);

/* ---- Whether the CPU or the copy engines of the GPU copy ------------------------------------- */

/*
 * Up to this size the CPU copies data that CUDA only writes, even if OpenGL can keep memory mapped.
 * Mapped memory can be rewritten only after OpenGL has copied from it. This needs a wait for OpenGL
 * in each frame, and a context switch on a GPU that both APIs share. The CPU copy waits only for
 * CUDA, and OpenGL may start at any time. Microseconds per frame in order on an H200, by CPU copy
 * and by mapped memory: 222 and 355 for 64 KiB, 112 and 362 for 256 KiB, 406 and 354 for 512 KiB.
 * On llvmpipe a release takes 16 µs by CPU copy and 21 µs by mapped memory for 64 KiB, 50 and
 * 41 µs for 512 KiB. A release into storage that grinterop allocated takes 13 and 74 µs
 * for 64 KiB, 36 and 90 µs for 512 KiB.
 */
#define GL_COPY_BY_CPU      ((size_t)256 << 10)
#define GL_COPY_BY_CPU_TEXT "256 KiB"

/*
 * Up to this size CUDA copies directly into the storage of objects that grinterop created, which
 * then lies in host memory. A larger object is drawn too slowly from there. Microseconds per frame
 * with staging and without, in order and with 4 frames in flight: 373, 408 and 373, 244 for 1 MiB
 * (H200); 399, 488 and 401, 331 for 2 MiB; 649, 1020 and 656, 906 for 8 MiB (H100).
 */
#define GL_COPY_IN_PLACE ((size_t)1 << 20)

/* False if CUDA reads, because the thread then waits for OpenGL in any case. */
static inline bool gl_copy_by_cpu(size_t size, unsigned flags)
{
    return (flags & GR_WRITE_DISCARD) && size <= GL_COPY_BY_CPU;
}

/* ---- Staging memory: staging.c --------------------------------------------------------------- */

/*
 * Staging memory is an OpenGL buffer that stays mapped, and whose mapping is registered with CUDA.
 * The GPU copies between this buffer and the object, so the CPU copies nothing. Fences report the
 * progress of OpenGL.
 */

/* Whether the current OpenGL context supports persistently mapped buffers. */
bool gl_staging_supported(const struct gl_context *context);

/* Returns the storage flags that let gl_staging_make() use a buffer directly. */
unsigned int gl_staging_storage_flags(void);

/*
 * Allocates staging memory for `copy`: sets `host`, `turns` and `staging`. Uses the object's own
 * storage if grinterop allocated the storage for this purpose. If staging is not possible or not
 * faster, `staging` stays GL_STAGING_NONE and `way` contains the reason. Both contexts are current.
 */
void gl_staging_make(const struct gl_resource *r, struct gl_copy *copy, unsigned flags);

/* ---- Fences ---------------------------------------------------------------------------------- */

/* Puts a fence after the commands issued so far, for gl_fence_wait(). */
void gl_fence_put(struct gl_names *names);

/* Blocks the thread until the fence is signalled, if there is one. */
gr_status gl_fence_wait(struct gl_names *names, const gr_resource *resource, const char *call);

/* Like gl_fence_wait(), for the oldest of the kept fences. */
gr_status gl_fence_wait_oldest(struct gl_names *names, const gr_resource *resource,
                               const char *call);

/*
 * Keeps the current fence, so that gl_fence_put() does not replace it. The oldest kept fence leaves
 * the list, so it must have been waited for.
 */
void gl_fence_keep(struct gl_names *names);

/*
 * gl_fence_make() makes a separate fence, which gl_fence_pass() waits for and deletes. If OpenGL
 * creates no fence, gl_fence_make() waits for OpenGL and returns NULL.
 */
struct __GLsync *gl_fence_make(void);
gr_status gl_fence_pass(struct __GLsync *fence, const gr_resource *resource, const char *call);

/* ---- The OpenGL half: objects.c -------------------------------------------------------------- */

/*
 * These functions copy batches of objects to and from the host memory that CUDA copies. They
 * preserve the OpenGL state. The OpenGL context of the objects is current.
 */

/* Checks that the storage is unchanged, and that a map can read the objects. */
gr_status gl_copy_check_mappable(gr_resource *const resources[], size_t n, CUstream stream,
                                 const char *call);

/*
 * Copies objects to host memory, for CUDA to read, and waits for these copies. Before the copies,
 * writes the data of ring releases that is not in the objects yet: the streams must have passed
 * `done`. The CUDA context is current.
 */
gr_status gl_copy_read_objects(gr_resource *const resources[], size_t n);

/*
 * Like gl_copy_read_objects(), for one large buffer through mapped memory. Issues an OpenGL copy
 * for each piece; a copy is complete when its fence is signalled. After an error there are no
 * fences.
 */
gr_status gl_copy_read_pieces(gr_resource *resource, struct __GLsync *fences[]);

/* Waits until OpenGL has finished with the memory that CUDA will write. */
gr_status gl_copy_wait_writable(gr_resource *const resources[], size_t n, const char *call);

/*
 * Copies the data that CUDA has put into host memory to the objects. The streams must have passed
 * `done`, except for a buffer in pieces: this function waits for each piece. The CUDA context is
 * current.
 */
gr_status gl_copy_write_objects(gr_resource *const resources[], size_t n);

/*
 * The use of resources by the OpenGL side of a ring, without unnecessary waits: operations of
 * struct gr_backend. Data that CUDA wrote is copied to the objects when OpenGL acquires them. Data
 * that OpenGL wrote is already in transit before CUDA acquires it.
 */
gr_status gl_copy_begin_use(gr_resource *const resources[], size_t n);
gr_status gl_copy_end_use(gr_resource *const resources[], size_t n);

#endif
