/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An OpenGL buffer on the GPU that draws. It is registered in the CUDA context of that GPU, and
 * mapped and unmapped in a stream of that context.
 */
#ifndef GR_GL_PEER_DRAWING_H
#define GR_GL_PEER_DRAWING_H

#include <cuda.h>

#include "lib/cuda/context.h"
#include "gl/object/object.h"

struct gl_drawing {
    struct gl_deferred left;   /* defers the end until the OpenGL context is current */
    struct gr_context context; /* the primary context of the GPU that draws, retained */
    CUgraphicsResource handle;
    CUstream stream;
    /* an event after the last map enqueued in `stream`, or after the last unmap */
    CUevent passed;
    CUdeviceptr ptr; /* the address of the mapping; 0 if the buffer is not mapped */
    size_t size;
};

/* Registers the buffer on `device`, which draws. */
gr_status gl_drawing_open(const struct gl_resource *r, CUdevice device, unsigned flags,
                          struct gl_drawing **opened, const char *call);

/*
 * Maps up to GR_BATCH unmapped buffers, all or none, by one call in the stream of the first buffer.
 * Later work in `stream`, a stream of the current context, waits for the map.
 */
gr_status gl_drawings_map(struct gl_drawing *const drawings[], size_t n, CUstream stream);

/*
 * Unmaps the buffers in the same way, after an event of another context. After an error all buffers
 * stay mapped.
 */
gr_status gl_drawings_unmap(struct gl_drawing *const drawings[], size_t n, CUevent after);

/*
 * Ends and frees a drawing: at once if its OpenGL context is current, otherwise deferred. The
 * thread waits for the last unmap. Records errors of the driver. NULL is allowed.
 */
gr_status gl_drawing_end(struct gl_drawing *drawing);

#endif
