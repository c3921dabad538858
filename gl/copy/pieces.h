/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Splits large buffers into pieces, so that OpenGL copies one piece while CUDA transfers the next
 * piece. Otherwise each API would wait for the whole buffer.
 */
#ifndef GR_GL_COPY_PIECES_H
#define GR_GL_COPY_PIECES_H

#include <cuda.h>

#include "gl/copy/memory.h"

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
CUresult gl_pieces_make_events(struct gl_copy *copy);

/*
 * Blocks the thread until the event is reached. If the copy is large, first flushes OpenGL, so that
 * OpenGL works in the meantime.
 */
gr_status gl_copy_wait(CUevent event, const gr_resource *resource);

#endif
