/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An OpenGL buffer on the GPU that draws: registered in that GPU's own CUDA context, and mapped and
 * unmapped on a stream of that context.
 */
#ifndef GR_GL_PEER_DRAWING_H
#define GR_GL_PEER_DRAWING_H

#include <cuda.h>

#include "lib/context.h"
#include "gl/object.h"

struct gl_drawing {
    struct gl_deferred left;   /* defers the end until the OpenGL context is current */
    struct gr_context context; /* primary context of the GPU that draws, retained */
    CUgraphicsResource handle;
    CUstream stream;
    CUevent passed;  /* recorded after a map led by its stream, or after its last unmap */
    CUdeviceptr ptr; /* address of the mapping; 0 if not mapped */
    size_t size;
};

/* Registers the buffer on `device`, which draws. */
gr_status gl_drawing_open(const struct gl_resource *r, CUdevice device, unsigned flags,
                          struct gl_drawing **opened, const char *call);

/*
 * Maps up to GR_BATCH buffers that are not mapped, all or none, in one call on the stream of the
 * first. Later work in `stream`, a stream of the current context, waits for the map.
 */
gr_status gl_drawings_map(struct gl_drawing *const drawings[], size_t n, CUstream stream);

/*
 * Unmaps them in the same way, after the event, which is of another context. On an error all stay
 * mapped.
 */
gr_status gl_drawings_unmap(struct gl_drawing *const drawings[], size_t n, CUevent after);

/*
 * Ends and frees it: at once if its OpenGL context is current, otherwise deferred. The thread waits
 * for the last unmap. Records driver errors. NULL is allowed.
 */
gr_status gl_drawing_end(struct gl_drawing *drawing);

#endif
