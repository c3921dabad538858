/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Splits large buffers into pieces, so that OpenGL copies one piece while CUDA transfers the next
 * piece (otherwise each API would wait for the whole buffer), and waits for the copies.
 */
#include "gl/copy/copy.h"

#include <epoxy/gl.h>

#include "lib/base/error.h"
#include "lib/cuda/driver.h"
#include "lib/cuda/event.h"

/*
 * The minimum size of a piece. Such a piece takes about 40 µs on the bus, so the overhead per
 * piece is small.
 */
#define LEAST_PIECE ((size_t)2 << 20)

struct gl_pieces gl_pieces_of(const struct gl_copy *copy, size_t size)
{
    struct gl_pieces pieces = {.size = size, .step = size, .count = 1};
    if (!copy->piece_ends[0] || size < 2 * LEAST_PIECE)
        return pieces;
    pieces.step = (size + GL_COPY_MOST_PIECES - 1) / GL_COPY_MOST_PIECES;
    pieces.step = (pieces.step + LEAST_PIECE - 1) / LEAST_PIECE * LEAST_PIECE;
    pieces.count = (unsigned)((size + pieces.step - 1) / pieces.step);
    return pieces;
}

gr_status gl_pieces_make_events(struct gl_copy *copy)
{
    if (copy->arrays || copy->staging == GL_STAGING_OBJECT || copy->size < 2 * LEAST_PIECE)
        return GR_OK;
    for (unsigned i = 0; i < GL_COPY_MOST_PIECES; i++)
        GR_TRY(gr_event_create(&copy->piece_ends[i]));
    return GR_OK;
}

/*
 * Whether OpenGL is flushed before a wait. A small copy ends before OpenGL would start, and a flush
 * would make a shared GPU switch contexts.
 */
static bool needs_flush(const gr_resource *resource)
{
    return ((const struct gl_resource *)resource)->copy->size > GL_COPY_BY_CPU;
}

gr_status gl_copy_wait(CUevent event, const gr_resource *resource)
{
    CUresult result = gr_driver()->EventQuery(event);
    if (result == CUDA_ERROR_NOT_READY && needs_flush(resource))
        glFlush();
    if (result == CUDA_ERROR_NOT_READY)
        result = gr_event_finish(event);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return gr_fail_work(result, "cuEventQuery", "The copy of %s failed.",
                        gl_object_text(resource).text);
}

gr_status gl_copy_select_next(const struct gl_resource *r)
{
    struct gl_copy *copy = r->copy;
    const unsigned turn = (copy->turn + 1) % copy->turns;
    GR_TRY(gl_copy_wait(copy->passed[turn], &r->base));
    copy->turn = turn;
    return GR_OK;
}
