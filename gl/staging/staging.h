/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The copy and peer transports: OpenGL copies between its object and staging memory, and CUDA
 * accesses that memory, or copies between it and memory of its own. There are two kinds of staging:
 * memory of the GPU that draws, for peer and frames in flight, and host memory, for copy.
 */
#ifndef GR_GL_STAGING_STAGING_H
#define GR_GL_STAGING_STAGING_H

#include <grinterop/gl.h>

#include "lib/base/cuda_abi.h"
#include "lib/cuda/end_after_event.h"
#include "gl/arrays/arrays.h"
#include "gl/object/object.h"

extern const struct gr_backend gl_copy, gl_peer;
extern const struct gl_maker gl_copy_maker, gl_peer_maker;

/* ---- The staging of a resource --------------------------------------------------------------- */

struct gl_staging {
    struct gr_ending ending; /* allows closing a resource while a stream still uses its memory */
    const struct gl_staging_kind *kind;
    /* memory on the GPU that computes, which maps of a buffer return; 0: they return a slot */
    CUdeviceptr own;
    struct gl_arrays *arrays; /* for images: those of the resource */
    struct gl_names *names;
    size_t size;          /* of a slot, in bytes */
    unsigned count, turn; /* the number of slots, which take turns, and the current one */
    bool in_place;        /* the staging memory is the object's own storage */
    bool is_linear;       /* kernels access the staging memory as fast as their own */
    bool reads_ahead;     /* in a ring, OpenGL can copy for a read by CUDA before the map */
    bool owed;     /* after a release in a ring, the slot has data that is not in the object yet */
    bool fetched;  /* in a ring, the slot has the data for the next map */
    bool filled;   /* gl_staging_fill() has lent the slot */
    bool chosen;   /* within a call: OpenGL copies to or from the slot */
    bool lost;     /* within a release: the object was not there for what CUDA wrote */
    char way[160]; /* the staging memory in use, and why, for gr_resource_describe() */
};

/*
 * The bytes of a buffer that are copied. A slot has them at the same offset as the object. A ring
 * maps whole buffers.
 */
struct gl_span {
    size_t offset, size;
};

static inline struct gl_span gl_span_of(const struct gl_resource *r)
{
    const gr_buffer *mapping = r->staging->owed ? NULL : r->base.current;
    return mapping ? (struct gl_span){mapping->offset, mapping->part}
                   : (struct gl_span){0, r->base.size};
}

/*
 * What differs by the kind of staging. The functions that take resources handle a run, and record
 * errors. Both contexts are current.
 */
struct gl_staging_kind {
    size_t size; /* of the struct, which begins with struct gl_staging */
    /*
     * Semaphores order both sides, so that CUDA has a slot from the map to the release. Otherwise
     * the thread waits, and CUDA has a slot only for its copies.
     */
    bool has_semaphores;
    const char *gl_calls; /* the OpenGL calls that copy, for messages */

    /* Allocates the slots, for objects of `size` bytes, and sets `count` and `way`. */
    gr_status (*make)(struct gl_resource *r, struct gl_staging *s, unsigned flags);
    /* Finds the shader that copies the object, so that the first map need not. */
    void (*prepare)(struct gl_resource *r);
    /* Called when a resource ends, before its stream has passed; may be NULL. */
    void (*drop)(struct gl_staging *s);
    /* Frees the CUDA objects of the slots; may be NULL. */
    void (*end)(struct gl_staging *s);

    struct gl_place (*place)(const struct gl_staging *s); /* of the current slot */
    /* Lets OpenGL copy bytes of a buffer, to the slot if `read`. */
    gr_status (*move)(const struct gl_resource *r, bool read);
    /* Copies between the slot and CUDA's own memory, to that memory if `up`. */
    gr_status (*copy)(const struct gl_resource *r, bool up, CUstream stream);

    /*
     * Orders OpenGL's copies after CUDA's use of the slots that are chosen: copies to the slots if
     * `read`.
     */
    gr_status (*to_gl)(gr_resource *const resources[], size_t n, bool read);
    /* Called after OpenGL's copies of the chosen slots, also after an error. */
    gr_status (*from_gl)(gr_resource *const resources[], size_t n, bool read);
    /* Orders the stream after from_gl(). */
    gr_status (*to_cuda)(gr_resource *const resources[], size_t n, CUstream stream);
    void (*undo)(gr_resource *const resources[], size_t n, CUstream stream);
    /* Selects the slots for the copies of a release; NULL if a map has selected them. */
    gr_status (*select)(gr_resource *const resources[], size_t n);
    /* Called after CUDA's copies, whose events have been recorded. */
    gr_status (*from_cuda)(gr_resource *const resources[], size_t n, CUstream stream);
    /* See signal_in_place() in struct gr_backend; may be NULL. */
    void (*signal)(const struct gl_staging *s);
};

extern const struct gl_staging_kind gl_host_memory, gl_peer_memory;

/* Frees everything but the event of the last work; without the CUDA context no CUDA objects. */
void gl_staging_end(struct gr_ending *ending, bool alive);

/* ---- Memory of the GPU that draws ------------------------------------------------------------ */

/*
 * Whether OpenGL cannot copy the format from memory of CUDA; writes why. `format` is NULL for
 * buffers. gl_staging_check_format() records the reason, except in OpenGL ES, which later checks
 * refuse for another reason.
 */
bool gl_staging_refuses(const struct gl_format *format, char *text, size_t size);
gr_status gl_staging_check_format(const struct gl_format *format, const struct gl_context *context);

/*
 * For a read_only buffer: lets OpenGL write the next staging buffer in place of the object, and
 * returns its name. The next map then copies nothing from the object. gl_staging_unfill() undoes
 * this if no map follows. For other resources the name is that of the object.
 */
gr_status gl_staging_fill(gr_resource *resource, unsigned int *name);
static inline void gl_staging_unfill(gr_resource *resource)
{
    const struct gl_resource *r = gl_of(resource);
    if (resource->backend == &gl_peer && r->staging)
        r->staging->filled = false;
}

/*
 * Whether the current CUDA context can access the memory of the device that the current OpenGL
 * context draws on, which may be its own: sets *reach, or records an error. gl_peer_reaches()
 * writes a sentence with the reason instead of an error.
 */
gr_status gl_peer_check(enum gl_reach *reach);
bool gl_peer_reaches(enum gl_reach *reach, char *text, size_t size);

/* ---- Host memory: host_memory.c -------------------------------------------------------------- */

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

/* Whether OpenGL supports buffers that stay mapped. The flags are those of their storage. */
bool gl_staging_supported(const struct gl_context *context);
unsigned int gl_staging_storage_flags(void);

#endif
