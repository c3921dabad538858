/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An OpenGL buffer as the GPU that draws has it: registered in that GPU's own CUDA context, mapped
 * and unmapped on a stream of that context.
 */
#ifndef GR_GL_PEER_DRAWING_H
#define GR_GL_PEER_DRAWING_H

#include "lib/context.h"
#include "gl/object.h"

struct gl_drawing {
    struct gl_later left;      /* where its OpenGL context is not current at the end */
    struct gr_context context; /* the primary one of the GPU that draws, retained */
    CUgraphicsResource handle;
    CUstream stream;
    CUevent passed;  /* behind the last map that its stream led, or its own last unmap */
    CUdeviceptr ptr; /* where the buffer is mapped; 0: it is not */
    size_t size;
};

/* Registers the buffer on `device`, which draws. */
gr_status gl_drawing_open(const struct gl_resource *r, CUdevice device, unsigned flags,
                          struct gl_drawing **opened, const char *call);

/*
 * Maps at most GR_BATCH that are not mapped, all or none, in one call on the first one's stream;
 * what is put into `stream`, of the current context, comes after it.
 */
gr_status gl_drawings_map(struct gl_drawing *const drawings[], size_t n, CUstream stream);

/* Unmaps them likewise, after the event, which is of another context. On an error all stay. */
gr_status gl_drawings_unmap(struct gl_drawing *const drawings[], size_t n, CUevent after);

/*
 * Ends and frees it: now if its OpenGL context is current, else when it is. The thread waits for
 * its last unmap. Records the error of the driver. NULL is fine.
 */
gr_status gl_drawing_end(struct gl_drawing *drawing);

#endif
