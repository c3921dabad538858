/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The peer transport: OpenGL copies between its object and staging buffers in memory of the GPU
 * that draws, which CUDA accesses. Semaphores order both sides, so that no thread waits, and CUDA
 * can work on the next frame in another staging buffer while OpenGL draws.
 */
#ifndef GR_GL_STAGED_STAGED_H
#define GR_GL_STAGED_STAGED_H

#include <cuda.h>
#include <grinterop/gl.h>

#include "lib/cuda/end_after_event.h"
#include "gl/arrays/arrays.h"
#include "gl/object/object.h"

extern const struct gr_backend gl_staged;
extern const struct gl_maker gl_staged_maker;

struct gl_staged {
    struct gr_ending ending; /* allows closing a resource while a stream still uses its memory */
    /*
     * For a buffer on another GPU than the one that computes: memory there, which maps return.
     * Otherwise 0: maps return the address of a staging buffer.
     */
    CUdeviceptr own;
    struct gl_arrays *arrays; /* for images: those of the resource */
    struct gl_names *names;   /* the OpenGL objects for copies of a renderbuffer */
    bool crosses;             /* another GPU draws */
    bool filled;              /* gl_staged_fill() has lent the current staging buffer */
    char way[160];            /* for gr_resource_describe() */
    unsigned count, turn;     /* the number of staging buffers, and the current one */
    gr_resource *slots[];     /* buffers of the shared transport */
};

/* Drops the staging buffers. Their own order says when their memory ends. */
void gl_staged_drop_slots(struct gl_staged *staged);

/* Frees everything else; without the CUDA context (`alive` is false) no CUDA objects. */
void gl_staged_end(struct gr_ending *ending, bool alive);

/*
 * Whether OpenGL cannot copy the format from memory of CUDA; writes why. `format` is NULL for
 * buffers. gl_staged_check_format() records the reason.
 */
bool gl_staged_refuses(const struct gl_format *format, char *text, size_t size);
gr_status gl_staged_check_format(const struct gl_format *format, const char *call);

/* The largest value of `in_flight`. */
#define GL_MOST_IN_FLIGHT 64

/*
 * For a read_only buffer: lets OpenGL write the next staging buffer in place of the object, and
 * returns its name. The next map then copies nothing from the object. gl_staged_unfill() undoes
 * this if no map follows. For other resources the name is that of the object.
 */
gr_status gl_staged_fill(gr_resource *resource, unsigned int *name);
void gl_staged_unfill(gr_resource *resource);

/* A driver call that failed, which leaves a query without an answer. */
struct gl_peer_query {
    const char *call;
    CUresult result;
};

/*
 * Whether the current CUDA context can access the memory of the device that the current OpenGL
 * context draws on, which may be its own. `text` receives a sentence with the reason for the
 * result, at most `size` bytes. If a query failed, `asked` receives the call and its result;
 * `asked` may be NULL. *crosses says whether these are two devices.
 */
bool gl_peer_reaches(bool *crosses, struct gl_peer_query *asked, char *text, size_t size);

#endif
