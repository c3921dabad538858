/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large buffers in pieces: OpenGL moves one while CUDA has the next on the bus. Each side alone
 * would make the other wait for the whole.
 */
#ifndef GR_GL_COPY_PIECES_H
#define GR_GL_COPY_PIECES_H

#include "gl/copy/memory.h"

/* Pieces of `step` bytes each, the last one of what is left. One: it is not worth while. */
struct gl_pieces {
    size_t size, step;
    unsigned count;
};

/* Of so many bytes of a buffer. */
struct gl_pieces gl_pieces_of(const struct gl_copy *copy, size_t size);

/* The bytes of a piece that begins at `at`. */
static inline size_t gl_piece_size(const struct gl_pieces *pieces, size_t at)
{
    return pieces->size - at < pieces->step ? pieces->size - at : pieces->step;
}

/* Makes the events that large buffers need; ended with the copy. The CUDA context is current. */
CUresult gl_pieces_make_events(struct gl_copy *copy);

/*
 * The thread waits until a stream has passed the event. For a large copy OpenGL works meanwhile on
 * what it was told.
 */
gr_status gl_copy_await(CUevent event, const gr_resource *resource);

#endif
