/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The rows of bench_frames: each way of passing a mesh from CUDA to the renderer. */
#define _GNU_SOURCE
#include <epoxy/gl.h>
#include <string.h>

#include "bench/frames/frames.h"

/* ---- The bound: unsynchronised --------------------------------------------------------------- */

static bool kernel_alone(struct frames *f, struct frames_run *run)
{
    (void)run;
    return frames_launch(f, f->scratch[f->frames_left % FRAMES_ALONE]);
}

static bool draw_alone(struct frames *f, struct frames_run *run)
{
    (void)run;
    frames_draw(f, f->plain[f->plain_turn++ % FRAMES_ALONE]);
    return true;
}

static bool unsynchronised(struct frames *f, struct frames_run *run)
{
    return kernel_alone(f, run) && draw_alone(f, run);
}

/* ---- In order: one buffer -------------------------------------------------------------------- */

bool frames_make_buffer(struct frames *f, struct frames_run *run)
{
    glGenBuffers(1, &run->name);
    glBindBuffer(GL_ARRAY_BUFFER, run->name);
    glBufferStorage(GL_ARRAY_BUFFER, (GLsizeiptr)f->bytes, NULL, 0);
    return frames_gl_ok("glBufferStorage");
}

bool frames_open_raw(struct frames *f, struct frames_run *run, unsigned flags)
{
    return frames_make_buffer(f, run) &&
           frames_cuda_ok(f, f->cuda->GraphicsGLRegisterBuffer(&run->handle, run->name, flags),
                          "cuGraphicsGLRegisterBuffer");
}

bool frames_map_raw(struct frames *f, const struct frames_run *run, CUdeviceptr *pointer)
{
    CUgraphicsResource handle = run->handle;
    size_t size;
    return frames_cuda_ok(f, f->cuda->GraphicsMapResources(1, &handle, f->on.stream),
                          "cuGraphicsMapResources") &&
           frames_cuda_ok(f, f->cuda->GraphicsResourceGetMappedPointer(pointer, &size, handle),
                          "cuGraphicsResourceGetMappedPointer");
}

bool frames_unmap_raw(struct frames *f, struct frames_run *run)
{
    return frames_cuda_ok(f, f->cuda->GraphicsUnmapResources(1, &run->handle, f->on.stream),
                          "cuGraphicsUnmapResources");
}

static bool open_raw(struct frames *f, struct frames_run *run)
{
    return frames_open_raw(f, run, GR_WRITE_DISCARD);
}

static bool raw(struct frames *f, struct frames_run *run)
{
    CUdeviceptr vertices;
    if (!frames_map_raw(f, run, &vertices) || !frames_launch(f, vertices) ||
        !frames_unmap_raw(f, run))
        return false;
    frames_draw(f, run->name);
    return true;
}

static bool close_raw(struct frames *f, struct frames_run *run)
{
    bool good = !run->handle || frames_cuda_ok(f, f->cuda->GraphicsUnregisterResource(run->handle),
                                               "cuGraphicsUnregisterResource");
    glDeleteBuffers(1, &run->name);
    return good;
}

static bool open_grinterop(struct frames *f, struct frames_run *run)
{
    if (!frames_make_buffer(f, run))
        return false;
    run->resource = gr_from_gl_buffer(run->name, GR_WRITE_DISCARD);
    return run->resource || frames_grinterop_failed("gr_from_gl_buffer");
}

static bool open_peer(struct frames *f, struct frames_run *run)
{
    return frames_open_peer(f, run, GR_WRITE_DISCARD);
}

bool frames_open_peer(struct frames *f, struct frames_run *run, unsigned flags)
{
    const unsigned slots = run->kind->slots;
    const gr_gl_options by_peer =
        GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_PEER, .in_flight = slots > 1 ? slots : 0);
    if (!frames_make_buffer(f, run))
        return false;
    run->resource = gr_from_gl_buffer_with(run->name, flags, &by_peer);
    return run->resource || frames_grinterop_failed("gr_from_gl_buffer_with");
}

bool frames_write_mapped(struct frames *f, gr_resource *resource)
{
    gr_buffer *buffer = gr_map(resource, f->on.stream);
    if (!buffer)
        return frames_grinterop_failed("gr_map");
    bool launched = frames_launch(f, gr_buffer_ptr(buffer));
    if (gr_buffer_release(buffer) != GR_OK)
        return frames_grinterop_failed("gr_buffer_release");
    return launched;
}

static bool grinterop(struct frames *f, struct frames_run *run)
{
    if (!frames_write_mapped(f, run->resource))
        return false;
    frames_draw(f, gr_gl_name(run->resource));
    return true;
}

static bool close_grinterop(struct frames *f, struct frames_run *run)
{
    (void)f;
    gr_resource_free(run->resource);
    glDeleteBuffers(1, &run->name);
    return true;
}

/* ---- Shared storage, in order and in flight -------------------------------------------------- */

static const gr_gl_options SHARED = {.struct_size = sizeof(gr_gl_options),
                                     .transports = GR_TRANSPORT_SHARED};

static bool open_shared(struct frames *f, struct frames_run *run)
{
    run->resource = gr_create_gl_buffer(f->bytes, GR_WRITE_DISCARD, &SHARED);
    return run->resource || frames_grinterop_failed("gr_create_gl_buffer");
}

/* Creates the ring, which holds references to the resources. */
bool frames_open_ring(struct frames *f, struct frames_run *run, gr_side producer)
{
    gr_resource *resources[FRAMES_MOST_SLOTS];
    const gr_ring_options options = GR_INIT(gr_ring_options, .producer = producer);
    const unsigned flags = producer == GR_SIDE_CUDA ? GR_WRITE_DISCARD : GR_READ_ONLY;
    unsigned made = 0;
    while (made < run->kind->slots &&
           (resources[made] = gr_create_gl_buffer(f->bytes, flags, &SHARED)))
        made++;
    if (made < run->kind->slots)
        frames_grinterop_failed("gr_create_gl_buffer");
    else if (!(run->ring = gr_ring_create(resources, made, &options)))
        frames_grinterop_failed("gr_ring_create");
    while (made-- > 0)
        gr_resource_free(resources[made]);
    return run->ring;
}

static bool open_ring(struct frames *f, struct frames_run *run)
{
    return frames_open_ring(f, run, GR_SIDE_CUDA);
}

bool frames_ring_write(struct frames *f, struct frames_run *run)
{
    const unsigned n = run->kind->group;
    if (gr_ring_acquire_write(run->ring, f->on.stream, run->slots, n, 0) != GR_OK)
        return frames_grinterop_failed("gr_ring_acquire_write");
    for (unsigned i = 0; i < n; i++)
        if (run->kind->image ? !frames_write_array(f, run->slots[i]->buffer)
                             : !frames_launch(f, gr_buffer_ptr(run->slots[i]->buffer))) {
            gr_ring_cancel_write(run->ring, run->slots, n);
            return false;
        }
    if (gr_ring_hand_over(run->ring, run->slots, n) != GR_OK)
        return frames_grinterop_failed("gr_ring_hand_over");
    return gr_ring_acquire_read(run->ring, GR_STREAM_NONE, run->slots, n, 0) == GR_OK ||
           frames_grinterop_failed("gr_ring_acquire_read");
}

/*
 * If graphics reads, gives back half of the ring at once: OpenGL then signals once for these slots,
 * and CUDA waits once.
 */
bool frames_ring_give_back(struct frames_run *run)
{
    memcpy(run->read + run->read_count, run->slots, run->kind->group * sizeof(run->slots[0]));
    run->read_count += run->kind->group;
    if (!run->kind->reads && run->read_count < run->kind->slots / 2)
        return true;
    const unsigned n = run->read_count;
    run->read_count = 0;
    return gr_ring_give_back(run->ring, run->read, n) == GR_OK ||
           frames_grinterop_failed("gr_ring_give_back");
}

static bool ring(struct frames *f, struct frames_run *run)
{
    if (!frames_ring_write(f, run))
        return false;
    for (unsigned i = 0; i < run->kind->group; i++)
        frames_draw(f, gr_gl_name(run->slots[i]->resource));
    return frames_ring_give_back(run);
}

static bool close_ring(struct frames *f, struct frames_run *run)
{
    (void)f;
    gr_ring_free(run->ring);
    return true;
}

/* ---- The table ------------------------------------------------------------------------------- */

#define ROW(part, key, label)                                                                      \
    {                                                                                              \
        key, label, part, frames_measure                                                           \
    }
#define BOUND(key, label, frame)                                                                   \
    {                                                                                              \
        ROW("Unsynchronised", key, label), 1, 1, NULL, frame, NULL, .unchecked = true              \
    }
#define IN_ORDER(key, label, ...)                                                                  \
    {                                                                                              \
        ROW("OpenGL, in order", key, label), 1, 1, __VA_ARGS__, .unchecked = false                 \
    }
#define RING(key, label, slots, group)                                                             \
    {                                                                                              \
        ROW("OpenGL, gr_ring", key, label), slots, group, open_ring, ring, close_ring,             \
            .unchecked = false                                                                     \
    }
#define COPY(key, label, slots, open)                                                              \
    {                                                                                              \
        ROW("OpenGL, gr_ring", key, label), slots, 1, open, frames_copy_ring,                      \
            frames_copy_close_ring, .unchecked = false                                             \
    }
/* Only peer is allowed, so that Mesa has staging buffers, too. */
#define STAGED(n)                                                                                  \
    {                                                                                              \
        ROW("OpenGL, in_flight", "staged/" #n, "in_flight " #n), n, 1, open_peer, grinterop,       \
            close_grinterop, .unchecked = false                                                    \
    }
#define BY_HAND(key, label, slots)                                                                 \
    {                                                                                              \
        ROW("OpenGL, raw calls", key, label), slots, 1, frames_hand_open, frames_hand_frame,       \
            frames_hand_close, .unchecked = false                                                  \
    }
#define VULKAN_BY(key, label, slots, group, ...)                                                   \
    {                                                                                              \
        ROW("Vulkan, gr_ring", key, label), slots, group, __VA_ARGS__, .vulkan = true              \
    }
#define VULKAN_RING  frames_vulkan_open_ring, frames_vulkan_frame, frames_vulkan_close_ring
#define VULKAN_IMAGE frames_vulkan_image_open, frames_vulkan_frame, frames_vulkan_image_close
#define READ(key, label, slots, group, ...)                                                        \
    {                                                                                              \
        ROW("OpenGL draws, CUDA reads", key, label), slots, group, __VA_ARGS__, .reads = true      \
    }
#define READ_COPIES frames_copy_open_ring, frames_copy_read_ring, frames_copy_close_ring
#define READ_RING   frames_read_open_ring, frames_read_ring, close_ring
#define READ_HAND   frames_hand_open, frames_hand_read_frame, frames_hand_close
#define READ_STAGED(n)                                                                             \
    READ("read/staged/" #n, "in_flight " #n, n, 1, frames_read_open_peer, frames_read_frame,       \
         close_grinterop)
#define VULKAN_READ(key, label, slots, group, frame, loose)                                        \
    {                                                                                              \
        ROW("Vulkan draws, CUDA reads", key, label), slots, group, frames_vulkan_read_open, frame, \
            frames_vulkan_read_close, .unchecked = loose, .reads = true                            \
    }

/* The indices of the rows used as the baseline. */
enum { BASE = 4, READ_BASE = 44 };

/*
 * All rows. The frames in flight are those between the frame that CUDA writes and the frame that is
 * drawn. The ring also has slots for these two frames.
 */
const struct frames_kind frames_kinds[] = {
    BOUND("kernel", "kernel alone", kernel_alone),
    BOUND("draw", "draw alone", draw_alone),
    BOUND("bound", "both, unsynchronised", unsynchronised),
    {ROW("Unsynchronised", "transfer", "kernel and transfer"), 1, 1, frames_transfer_open,
     frames_transfer, frames_transfer_close, .unchecked = true},
    [BASE] = IN_ORDER("raw", "interop, raw calls", open_raw, raw, close_raw),
    IN_ORDER("grinterop", "interop, grinterop", open_grinterop, grinterop, close_grinterop),
    IN_ORDER("copy", "copy, grinterop", frames_copy_open, grinterop, close_grinterop),
    IN_ORDER("copy/created", "copy, created", frames_copy_open_created, grinterop, close_grinterop),
    IN_ORDER("shared", "shared, grinterop", open_shared, grinterop, close_grinterop),
    IN_ORDER("peer", "peer, grinterop", open_peer, grinterop, close_grinterop, .across = true),
    IN_ORDER("image/interop", "texture, interop", frames_image_open, frames_image_frame,
             frames_image_close),
    IN_ORDER("image/copy", "texture, copy", frames_image_open_copy, frames_image_frame,
             frames_image_close),
    IN_ORDER("image/peer", "texture, peer", frames_image_open_peer, frames_image_frame,
             frames_image_close, .across = true),
    RING("ring/1", "1 in flight", 3, 1),
    RING("ring/2", "2 in flight", 4, 1),
    RING("ring/4", "4 in flight", 6, 1),
    RING("ring/8", "8 in flight", 10, 1),
    RING("ring/16", "16 in flight", 18, 1),
    RING("group/8-two", "groups of 8, two in turn", 16, 8),
    RING("group/8", "groups of 8, three in turn", 24, 8),
    RING("group/16", "groups of 16, two in turn", 32, 16),
    RING("group/64", "groups of 64, two in turn", 128, 64),
    COPY("copy/1", "copy, 1 in flight", 3, frames_copy_open_ring),
    COPY("copy/4", "copy, 4 in flight", 6, frames_copy_open_ring),
    COPY("copy/created/1", "copy, created, 1 in flight", 3, frames_copy_open_created_ring),
    COPY("copy/created/4", "copy, created, 4 in flight", 6, frames_copy_open_created_ring),
    STAGED(2),
    STAGED(4),
    STAGED(8),
    STAGED(16),
    BY_HAND("hand/1", "shared, 1 in flight", 3),
    BY_HAND("hand/16", "shared, 16 in flight", 18),
    VULKAN_BY("vulkan/draw", "draw alone", 1, 1, frames_vulkan_open_ring, frames_vulkan_draw_only,
              frames_vulkan_close_ring, .unchecked = true),
    VULKAN_BY("vulkan/1", "1 in flight", 3, 1, VULKAN_RING),
    VULKAN_BY("vulkan/16", "16 in flight", 18, 1, VULKAN_RING),
    VULKAN_BY("vulkan/64", "groups of 64", 128, 64, VULKAN_RING),
    VULKAN_BY("vulkan/copy/1", "copy, 1 in flight", 3, 1, VULKAN_RING, .copied = GR_TRANSPORT_COPY),
    VULKAN_BY("vulkan/copy/4", "copy, 4 in flight", 6, 1, VULKAN_RING, .copied = GR_TRANSPORT_COPY),
    VULKAN_BY("vulkan/peer/1", "peer, 1 in flight", 3, 1, VULKAN_RING, .copied = GR_TRANSPORT_PEER,
              .across = true),
    VULKAN_BY("vulkan/peer/4", "peer, 4 in flight", 6, 1, VULKAN_RING, .copied = GR_TRANSPORT_PEER,
              .across = true),
    VULKAN_BY("vulkan/image/copy", "image, copy, 1 in flight", 3, 1, VULKAN_IMAGE, .image = true,
              .copied = GR_TRANSPORT_COPY),
    VULKAN_BY("vulkan/image/peer", "image, peer, 1 in flight", 3, 1, VULKAN_IMAGE, .image = true,
              .copied = GR_TRANSPORT_PEER, .across = true),
    VULKAN_BY("vulkan/copy/queue", "copy on the transfer queue, 4", 6, 1,
              frames_transfer_queue_open_ring, frames_transfer_queue_frame,
              frames_vulkan_close_ring, .copied = GR_TRANSPORT_COPY),
    READ("read/bound", "both, unsynchronised", 1, 1, NULL, frames_read_alone, NULL,
         .unchecked = true),
    [READ_BASE] = READ("read/raw", "interop, raw calls", 1, 1, frames_read_open_raw,
                       frames_read_raw, close_raw),
    READ("read/grinterop", "interop, grinterop", 1, 1, frames_read_open, frames_read_frame,
         close_grinterop),
    READ("read/peer", "peer, grinterop", 1, 1, frames_read_open_peer, frames_read_frame,
         close_grinterop, .across = true),
    READ_STAGED(2),
    READ_STAGED(4),
    READ_STAGED(8),
    READ_STAGED(16),
    READ("read/copy", "copy, grinterop", 1, 1, frames_copy_open, frames_read_frame,
         close_grinterop),
    READ("read/copy/1", "copy, 1 in flight", 3, 1, READ_COPIES),
    READ("read/copy/4", "copy, 4 in flight", 6, 1, READ_COPIES),
    READ("read/ring/1", "ring, 1 in flight", 3, 1, READ_RING),
    READ("read/ring/16", "ring, 16 in flight", 18, 1, READ_RING),
    READ("read/ring/64", "ring, groups of 64", 128, 64, READ_RING),
    READ("read/hand/1", "raw shared, 1 in flight", 3, 1, READ_HAND),
    READ("read/hand/16", "raw shared, 16 in flight", 18, 1, READ_HAND),
    VULKAN_READ("vulkan/read/bound", "both, unsynchronised", 1, 1, frames_vulkan_read_alone, true),
    VULKAN_READ("vulkan/read/1", "1 in flight", 3, 1, frames_vulkan_read_frame, false),
    VULKAN_READ("vulkan/read/16", "16 in flight", 18, 1, frames_vulkan_read_frame, false),
    VULKAN_READ("vulkan/read/64", "groups of 64", 128, 64, frames_vulkan_read_frame, false),
    {.slots = 0},
};
const struct frames_kind *const frames_base = &frames_kinds[BASE];
const struct frames_kind *const frames_read_base = &frames_kinds[READ_BASE];
