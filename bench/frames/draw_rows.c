/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The rows in which CUDA writes a mesh and OpenGL draws it, and the resources of OpenGL rows. */
#define _GNU_SOURCE
#include <string.h>

#include <epoxy/gl.h>
#include <grinterop/image.h>

#include "bench/frames/frames.h"

/* ---- The bound: unsynchronised --------------------------------------------------------------- */

static void kernel_alone(struct frames_run *run)
{
    (void)run;
    frames_launch(scene.scratch[scene.frames_left % FRAMES_ALONE]);
}

static void draw_alone(struct frames_run *run)
{
    (void)run;
    frames_draw(scene.plain[scene.plain_turn++ % FRAMES_ALONE]);
}

static void unsynchronised(struct frames_run *run)
{
    kernel_alone(run);
    draw_alone(run);
}

static void end_host(void *host)
{
    CU(MemFreeHost, host);
}

static void open_host(struct frames_run *run)
{
    CU(MemAllocHost, &run->host, scene.bytes);
    bench_later(end_host, run->host);
}

/* The kernel, then the copy of all bytes to the host: any copy to OpenGL takes at least this time.
 */
static void transfer(struct frames_run *run)
{
    const CUdeviceptr from = scene.scratch[scene.frames_left % FRAMES_ALONE];
    frames_launch(from);
    CU(MemcpyDtoHAsync, run->host, from, scene.bytes, scene.on.stream);
}

/* ---- Resources ------------------------------------------------------------------------------- */

static unsigned make_buffer(void)
{
    const unsigned name = bench_gl_buffer();
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferStorage(GL_ARRAY_BUFFER, (GLsizeiptr)scene.bytes, NULL, 0);
    bench_check_gl("glBufferStorage");
    return name;
}

/* The resource of a buffer, which OpenGL or grinterop creates. */
static gr_resource *make_resource(const struct frames_kind *kind)
{
    const unsigned flags = kind->reads ? GR_READ_ONLY : GR_WRITE_DISCARD;
    const bool is_staged = kind->transport == GR_TRANSPORT_PEER && kind->slots > 1;
    const gr_gl_options options = GR_INIT(gr_gl_options, .transports = kind->transport,
                                          .in_flight = is_staged ? kind->slots : 0);
    gr_resource *resource;
    if (kind->created)
        GR_KEEP(resource, create_gl_buffer, scene.bytes, flags, &options);
    else if (kind->transport)
        GR_KEEP(resource, from_gl_buffer_with, make_buffer(), flags, &options);
    else
        GR_KEEP(resource, from_gl_buffer, make_buffer(), flags);
    return resource;
}

void frames_open_one(struct frames_run *run)
{
    run->resource = make_resource(run->kind);
}

void frames_open_ring(struct frames_run *run)
{
    gr_resource *resources[FRAMES_MOST_SLOTS];
    const struct frames_kind *kind = run->kind;
    const gr_ring_options options =
        GR_INIT(gr_ring_options, .producer = kind->reads ? GR_SIDE_GRAPHICS : GR_SIDE_CUDA);
    for (unsigned i = 0; i < kind->slots; i++)
        resources[i] = make_resource(kind);
    GR_KEEP(run->ring, ring_create, resources, kind->slots, &options);
}

/* ---- In order -------------------------------------------------------------------------------- */

void frames_open_raw(struct frames_run *run)
{
    run->name = make_buffer();
    run->handle =
        bench_cuda_register(run->name, run->kind->reads ? GR_READ_ONLY : GR_WRITE_DISCARD);
}

CUdeviceptr frames_map_raw(const struct frames_run *run)
{
    CUgraphicsResource handle = run->handle;
    CUdeviceptr pointer;
    size_t size;
    CU(GraphicsMapResources, 1, &handle, scene.on.stream);
    CU(GraphicsResourceGetMappedPointer, &pointer, &size, handle);
    return pointer;
}

void frames_unmap_raw(struct frames_run *run)
{
    CU(GraphicsUnmapResources, 1, &run->handle, scene.on.stream);
}

static void raw(struct frames_run *run)
{
    frames_launch(frames_map_raw(run));
    frames_unmap_raw(run);
    frames_draw(run->name);
}

void frames_write_mapped(gr_resource *resource)
{
    gr_buffer *buffer;
    GR_NEW(buffer, map, resource, scene.on.stream);
    frames_launch(gr_buffer_ptr(buffer));
    GR(buffer_release, buffer);
}

static void grinterop(struct frames_run *run)
{
    frames_write_mapped(run->resource);
    frames_draw(gr_gl_name(run->resource));
}

/* ---- Textures -------------------------------------------------------------------------------- */

static void open_image(struct frames_run *run)
{
    const gr_gl_options options = GR_INIT(gr_gl_options, .transports = run->kind->transport);
    run->name = make_buffer();
    run->texture = bench_gl_texture();
    glBindTexture(GL_TEXTURE_2D, run->texture);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA32F, scene.mesh, scene.mesh);
    GR_KEEP(run->resource, from_gl_image_with, run->texture, GL_TEXTURE_2D, GR_WRITE_DISCARD,
            &options);
}

/* CUDA copies the next mesh into the array of the texture, one vertex per texel. */
static void write_array(gr_buffer *buffer)
{
    const CUdeviceptr mesh = scene.scratch[scene.frames_left % FRAMES_ALONE];
    const size_t row = scene.bytes / (size_t)scene.mesh;
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = mesh,
                                .srcPitch = row,
                                .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                .dstArray = gr_buffer_array(buffer, 0, 0),
                                .WidthInBytes = row,
                                .Height = (size_t)scene.mesh};
    frames_launch(mesh);
    CU(Memcpy2DAsync, &copy, scene.on.stream);
}

/* OpenGL copies the texels to the buffer that it draws. */
static void image(struct frames_run *run)
{
    gr_buffer *buffer;
    GR_NEW(buffer, map, run->resource, scene.on.stream);
    write_array(buffer);
    GR(buffer_release, buffer);
    glBindTexture(GL_TEXTURE_2D, run->texture);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, run->name);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_FLOAT, NULL);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    frames_draw(run->name);
}

/* ---- In flight ------------------------------------------------------------------------------- */

static void write_slots(struct frames_run *run)
{
    const unsigned n = run->kind->group;
    GR(ring_acquire_write, run->ring, scene.on.stream, run->slots, n, 0);
    for (unsigned i = 0; i < n; i++)
        if (run->kind->image)
            write_array(run->slots[i]->buffer);
        else
            frames_launch(gr_buffer_ptr(run->slots[i]->buffer));
    GR(ring_hand_over, run->ring, run->slots, n);
}

void frames_ring_write(struct frames_run *run)
{
    write_slots(run);
    GR(ring_acquire_read, run->ring, GR_STREAM_NONE, run->slots, run->kind->group, 0);
}

/*
 * If graphics reads, gives back half of the ring at once: OpenGL then signals once for these slots,
 * and CUDA waits once.
 */
void frames_ring_give_back(struct frames_run *run)
{
    memcpy(run->read + run->read_count, run->slots, run->kind->group * sizeof(run->slots[0]));
    run->read_count += run->kind->group;
    if (!run->kind->reads && run->read_count < run->kind->slots / 2)
        return;
    GR(ring_give_back, run->ring, run->read, run->read_count);
    run->read_count = 0;
}

static void ring(struct frames_run *run)
{
    frames_ring_write(run);
    for (unsigned i = 0; i < run->kind->group; i++)
        frames_draw(gr_gl_name(run->slots[i]->resource));
    frames_ring_give_back(run);
}

/*
 * With the copy transport and n frames in flight, the reader is n frames behind the writer, because
 * a copy blocks the thread until the frame is finished. Writes frames until n of them are ready for
 * the reader, or until the block has no frames left. So the first call of a block writes several
 * frames, and the last calls write none.
 */
void frames_get_ahead(struct frames_run *run, frames_fn write)
{
    const unsigned in_flight = run->kind->slots - 2;
    while (scene.frames_left > 0 && gr_ring_get_info(run->ring)->ready < in_flight)
        write(run);
}

static void copy_ring(struct frames_run *run)
{
    frames_get_ahead(run, write_slots);
    GR(ring_acquire_read, run->ring, GR_STREAM_NONE, run->slots, 1, 0);
    frames_draw(gr_gl_name(run->slots[0]->resource));
    GR(ring_give_back, run->ring, run->slots, 1);
}

/* ---- The rows -------------------------------------------------------------------------------- */

#define BOUND(key, label, ...)                                                                     \
    {                                                                                              \
        FRAMES_ROW("Unsynchronised", key, label), 1, 1, __VA_ARGS__, .unchecked = true             \
    }
#define IN_ORDER(key, label, open, frame, by, ...)                                                 \
    {                                                                                              \
        FRAMES_ROW("OpenGL, in order", key, label), 1, 1, open, frame, .transport = by,            \
                                                                       __VA_ARGS__                 \
    }
#define RING(key, label, slots, group)                                                             \
    {                                                                                              \
        FRAMES_ROW("OpenGL, gr_ring", key, label), slots, group, frames_open_ring, ring,           \
            .transport = GR_TRANSPORT_SHARED, .created = true                                      \
    }
#define COPY(key, label, slots, is_created)                                                        \
    {                                                                                              \
        FRAMES_ROW("OpenGL, gr_ring", key, label), slots, 1, frames_open_ring, copy_ring,          \
            .transport = GR_TRANSPORT_COPY, .created = is_created                                  \
    }
/* Only peer is allowed, so that Mesa has staging buffers, too. */
#define STAGED(n)                                                                                  \
    {                                                                                              \
        FRAMES_ROW("OpenGL, in_flight", "staged/" #n, "in_flight " #n), n, 1, frames_open_one,     \
            grinterop, .transport = GR_TRANSPORT_PEER                                              \
    }

enum { BASE = 4 };

/*
 * The frames in flight are those between the frame that CUDA writes and the frame that is drawn.
 * The ring also has slots for these two frames.
 */
const struct frames_kind frames_draw_rows[] = {
    BOUND("kernel", "kernel alone", NULL, kernel_alone),
    BOUND("draw", "draw alone", NULL, draw_alone),
    BOUND("bound", "both, unsynchronised", NULL, unsynchronised),
    BOUND("transfer", "kernel and transfer", open_host, transfer),
    [BASE] = IN_ORDER("raw", "interop, raw calls", frames_open_raw, raw, 0, ),
    IN_ORDER("grinterop", "interop, grinterop", frames_open_one, grinterop, 0, ),
    IN_ORDER("copy", "copy, grinterop", frames_open_one, grinterop, GR_TRANSPORT_COPY, ),
    IN_ORDER("copy/created", "copy, created", frames_open_one, grinterop, GR_TRANSPORT_COPY,
             .created = true),
    IN_ORDER("shared", "shared, grinterop", frames_open_one, grinterop, GR_TRANSPORT_SHARED,
             .created = true),
    IN_ORDER("peer", "peer, grinterop", frames_open_one, grinterop, GR_TRANSPORT_PEER,
             .across = true),
    IN_ORDER("image/interop", "texture, interop", open_image, image, GR_TRANSPORT_INTEROP, ),
    IN_ORDER("image/copy", "texture, copy", open_image, image, GR_TRANSPORT_COPY, ),
    IN_ORDER("image/peer", "texture, peer", open_image, image, GR_TRANSPORT_PEER, .across = true),
    RING("ring/1", "1 in flight", 3, 1),
    RING("ring/2", "2 in flight", 4, 1),
    RING("ring/4", "4 in flight", 6, 1),
    RING("ring/8", "8 in flight", 10, 1),
    RING("ring/16", "16 in flight", 18, 1),
    RING("group/8-two", "groups of 8, two in turn", 16, 8),
    RING("group/8", "groups of 8, three in turn", 24, 8),
    RING("group/16", "groups of 16, two in turn", 32, 16),
    RING("group/64", "groups of 64, two in turn", 128, 64),
    COPY("copy/1", "copy, 1 in flight", 3, false),
    COPY("copy/4", "copy, 4 in flight", 6, false),
    COPY("copy/created/1", "copy, created, 1 in flight", 3, true),
    COPY("copy/created/4", "copy, created, 4 in flight", 6, true),
    STAGED(2),
    STAGED(4),
    STAGED(8),
    STAGED(16),
    {.slots = 0},
};
const struct frames_kind *const frames_base = &frames_draw_rows[BASE];
