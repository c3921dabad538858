/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Rows of the copy transport, with OpenGL buffers and with buffers that grinterop creates, in order
 * and in flight. With n frames in flight, the reader is n frames behind the writer, because a copy
 * blocks the thread until the frame is finished.
 */
#include <epoxy/gl.h>

#include "bench/frames/frames.h"

static const gr_gl_options BY_COPY = {.struct_size = sizeof(gr_gl_options),
                                      .transports = GR_TRANSPORT_COPY};

/* Opens a row with an existing OpenGL buffer, which is shared in the direction of the row. */
bool frames_copy_open(struct frames *f, struct frames_run *run)
{
    const unsigned flags = run->kind->reads ? GR_READ_ONLY : GR_WRITE_DISCARD;
    if (!frames_make_buffer(f, run))
        return false;
    run->resource = gr_from_gl_buffer_with(run->name, flags, &BY_COPY);
    return run->resource || frames_grinterop_failed("gr_from_gl_buffer_with");
}

bool frames_copy_open_created(struct frames *f, struct frames_run *run)
{
    run->resource = gr_create_gl_buffer(f->bytes, GR_WRITE_DISCARD, &BY_COPY);
    return run->resource || frames_grinterop_failed("gr_create_gl_buffer");
}

/* ---- In flight ------------------------------------------------------------------------------- */

typedef bool (*open_fn)(struct frames *, struct frames_run *);

/* Creates each slot with `open`, and the ring that holds the slots. */
static bool open_ring(struct frames *f, struct frames_run *run, open_fn open)
{
    gr_resource *resources[FRAMES_MOST_COPIES];
    const gr_ring_options options =
        GR_INIT(gr_ring_options, .producer = run->kind->reads ? GR_SIDE_GRAPHICS : GR_SIDE_CUDA);
    unsigned made = 0;
    while (made < run->kind->slots && open(f, run)) {
        run->names[made] = run->name;
        resources[made++] = run->resource;
    }
    run->name = 0;
    run->resource = NULL;
    if (made == run->kind->slots && !(run->ring = gr_ring_create(resources, made, &options)))
        frames_grinterop_failed("gr_ring_create");
    while (made-- > 0)
        gr_resource_free(resources[made]);
    return run->ring;
}

bool frames_copy_open_ring(struct frames *f, struct frames_run *run)
{
    return open_ring(f, run, frames_copy_open);
}

bool frames_copy_open_created_ring(struct frames *f, struct frames_run *run)
{
    return open_ring(f, run, frames_copy_open_created);
}

static bool write_one(struct frames *f, struct frames_run *run)
{
    const gr_slot *slot;
    if (gr_ring_acquire_write(run->ring, f->on.stream, &slot, 1, 0) != GR_OK)
        return frames_grinterop_failed("gr_ring_acquire_write");
    if (!frames_launch(f, gr_buffer_ptr(slot->buffer))) {
        gr_ring_cancel_write(run->ring, &slot, 1);
        return false;
    }
    return gr_ring_hand_over(run->ring, &slot, 1) == GR_OK ||
           frames_grinterop_failed("gr_ring_hand_over");
}

static bool draw_one(struct frames *f, struct frames_run *run)
{
    const gr_slot *slot;
    if (gr_ring_acquire_read(run->ring, GR_STREAM_NONE, &slot, 1, 0) != GR_OK)
        return frames_grinterop_failed("gr_ring_acquire_read");
    frames_draw(f, gr_gl_name(slot->resource));
    return gr_ring_give_back(run->ring, &slot, 1) == GR_OK ||
           frames_grinterop_failed("gr_ring_give_back");
}

/*
 * Writes frames until `in_flight` of them are ready for the reader, or until the block has no
 * frames left. So the first call of a block writes several frames, and the last calls write none.
 */
static bool get_ahead(struct frames *f, struct frames_run *run,
                      bool (*write)(struct frames *, struct frames_run *))
{
    const unsigned in_flight = run->kind->slots - 2;
    while (f->frames_left > 0 && gr_ring_get_info(run->ring)->ready < in_flight)
        if (!write(f, run))
            return false;
    return true;
}

bool frames_copy_ring(struct frames *f, struct frames_run *run)
{
    return get_ahead(f, run, write_one) && draw_one(f, run);
}

bool frames_copy_read_ring(struct frames *f, struct frames_run *run)
{
    return get_ahead(f, run, frames_read_draw_slots) && frames_read_slots(f, run);
}

/* ---- Transfer alone -------------------------------------------------------------------------- */

bool frames_transfer_open(struct frames *f, struct frames_run *run)
{
    return frames_cuda_ok(f, f->cuda->MemAllocHost(&run->host, f->bytes), "cuMemAllocHost");
}

/*
 * A frame of the row "transfer": the kernel, then the copy of all bytes to the host. Any copy to
 * OpenGL takes at least this time.
 */
bool frames_transfer(struct frames *f, struct frames_run *run)
{
    const CUdeviceptr from = f->scratch[f->frames_left % FRAMES_ALONE];
    return frames_launch(f, from) &&
           frames_cuda_ok(f, f->cuda->MemcpyDtoHAsync(run->host, from, f->bytes, f->on.stream),
                          "cuMemcpyDtoHAsync");
}

bool frames_transfer_close(struct frames *f, struct frames_run *run)
{
    return !run->host || frames_cuda_ok(f, f->cuda->MemFreeHost(run->host), "cuMemFreeHost");
}

bool frames_copy_close_ring(struct frames *f, struct frames_run *run)
{
    (void)f;
    gr_ring_free(run->ring);
    glDeleteBuffers(FRAMES_MOST_COPIES, run->names);
    return true;
}
