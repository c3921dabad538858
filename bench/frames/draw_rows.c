/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The rows in which OpenGL draws: a mesh that CUDA writes, or a picture that CUDA filters. Each way
 * to pass frames on serves both directions.
 */
#define _GNU_SOURCE
#include <string.h>

#include <epoxy/gl.h>
#include <grinterop/image.h>

#include "bench/frames/frames.h"

/* ---- The bound: unsynchronised --------------------------------------------------------------- */

static void cuda_alone(struct frames_run *run)
{
    frames_compute(run, scene.scratch[scene.frames_left % FRAMES_ALONE]);
}

static void gl_alone(struct frames_run *run)
{
    frames_paint(run, run->kind->reads ? scene.picture.alone
                                       : scene.plain[scene.plain_turn++ % FRAMES_ALONE]);
}

BENCH_CUDA_END(end_host, MemFreeHost)

static void open_host(struct frames_run *run)
{
    CU(MemAllocHost, &run->host, scene.bytes);
    bench_later(end_host, run->host);
}

/* The kernel, then the copy of all bytes to the host: any copy to OpenGL takes at least this time.
 */
static void cuda_transfer(struct frames_run *run)
{
    const CUdeviceptr from = scene.scratch[scene.frames_left % FRAMES_ALONE];
    frames_launch(from);
    CU(MemcpyDtoHAsync, run->host, from, scene.bytes, scene.on.stream);
}

static const struct frames_way kernel = {.cuda = cuda_alone};
static const struct frames_way drawing = {.graphics = gl_alone};
static const struct frames_way both = {.cuda = cuda_alone, .graphics = gl_alone};
static const struct frames_way transfer = {.open = open_host, .cuda = cuda_transfer};

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

static void open_one(struct frames_run *run)
{
    run->resource = make_resource(run->kind);
}

static void open_ring(struct frames_run *run)
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

static void open_raw(struct frames_run *run)
{
    run->name = make_buffer();
    run->handle =
        bench_cuda_register(run->name, run->kind->reads ? GR_READ_ONLY : GR_WRITE_DISCARD);
}

static void cuda_raw(struct frames_run *run)
{
    CUdeviceptr pointer;
    size_t size;
    CU(GraphicsMapResources, 1, &run->handle, scene.on.stream);
    CU(GraphicsResourceGetMappedPointer, &pointer, &size, run->handle);
    frames_compute(run, pointer);
    CU(GraphicsUnmapResources, 1, &run->handle, scene.on.stream);
}

static void gl_raw(struct frames_run *run)
{
    frames_paint(run, run->name);
}

static void cuda_grinterop(struct frames_run *run)
{
    gr_buffer *buffer;
    GR_NEW(buffer, map, run->resource, scene.on.stream);
    frames_compute(run, gr_buffer_ptr(buffer));
    GR(buffer_release, buffer);
}

static void gl_grinterop(struct frames_run *run)
{
    frames_paint(run, gr_gl_name(run->resource));
}

const struct frames_way frames_raw = {.open = open_raw, .cuda = cuda_raw, .graphics = gl_raw};
static const struct frames_way grinterop = {
    .open = open_one, .cuda = cuda_grinterop, .graphics = gl_grinterop};

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
static void cuda_image(struct frames_run *run)
{
    gr_buffer *buffer;
    GR_NEW(buffer, map, run->resource, scene.on.stream);
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
    GR(buffer_release, buffer);
}

/* OpenGL copies the texels to the buffer that it draws. */
static void gl_image(struct frames_run *run)
{
    glBindTexture(GL_TEXTURE_2D, run->texture);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, run->name);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_FLOAT, NULL);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    frames_draw(run->name);
}

static const struct frames_way image = {
    .open = open_image, .cuda = cuda_image, .graphics = gl_image};

/* ---- In flight ------------------------------------------------------------------------------- */

void frames_acquire(struct frames_run *run, CUstream stream, bool writes)
{
    if (writes)
        GR(ring_acquire_write, run->ring, stream, run->slots, run->kind->group, 0);
    else
        GR(ring_acquire_read, run->ring, stream, run->slots, run->kind->group, 0);
}

/*
 * If graphics reads, gives back half of the ring at once: OpenGL then signals once for these slots,
 * and CUDA waits once.
 */
static void give_back(struct frames_run *run)
{
    const struct frames_kind *kind = run->kind;
    memcpy(run->read + run->read_count, run->slots, kind->group * sizeof(run->slots[0]));
    run->read_count += kind->group;
    if (!kind->reads && !kind->way->ahead && run->read_count < kind->slots / 2)
        return;
    GR(ring_give_back, run->ring, run->read, run->read_count);
    run->read_count = 0;
}

void frames_pass_on(struct frames_run *run, bool writes)
{
    if (writes)
        GR(ring_hand_over, run->ring, run->slots, run->kind->group);
    else
        give_back(run);
}

void frames_cuda_ring(struct frames_run *run)
{
    frames_acquire(run, scene.on.stream, !run->kind->reads);
    for (unsigned i = 0; i < run->kind->group; i++)
        frames_compute(run, gr_buffer_ptr(run->slots[i]->buffer));
    frames_pass_on(run, !run->kind->reads);
}

static void gl_ring(struct frames_run *run)
{
    frames_acquire(run, GR_STREAM_NONE, run->kind->reads);
    for (unsigned i = 0; i < run->kind->group; i++)
        frames_paint(run, gr_gl_name(run->slots[i]->resource));
    frames_pass_on(run, run->kind->reads);
}

static const struct frames_way ring = {
    .open = open_ring, .cuda = frames_cuda_ring, .graphics = gl_ring};
static const struct frames_way copy_ring = {
    .open = open_ring, .cuda = frames_cuda_ring, .graphics = gl_ring, .ahead = true};

/* ---- The rows -------------------------------------------------------------------------------- */

/* Only peer is allowed for in_flight, so that Mesa has staging buffers, too. */
#define BOUND(key, label, ...)                                                                     \
    FRAMES_ROW("Unsynchronised", key, label, 1, 1, __VA_ARGS__, .unchecked = true)
#define IN_ORDER(key, label, ...) FRAMES_ROW("OpenGL, in order", key, label, 1, 1, __VA_ARGS__)
#define RING(key, label, slots, group)                                                             \
    FRAMES_ROW("OpenGL, gr_ring", key, label, slots, group, &ring, GR_TRANSPORT_SHARED, true)
#define COPY(key, label, slots)                                                                    \
    FRAMES_ROW("OpenGL, gr_ring", key, label, slots, 1, &copy_ring, GR_TRANSPORT_COPY)
#define STAGED(n)                                                                                  \
    FRAMES_ROW("OpenGL, in_flight", "staged/" #n, "in_flight " #n, n, 1, &grinterop,               \
               GR_TRANSPORT_PEER)

/*
 * The frames in flight are those between the frame that CUDA writes and the frame that is drawn.
 * The ring also has slots for these two frames.
 */
const struct frames_kind frames_draw_rows[] = {
    BOUND("kernel", "kernel alone", &kernel),
    BOUND("draw", "draw alone", &drawing),
    BOUND("bound", "both, unsynchronised", &both),
    BOUND("transfer", "kernel and transfer", &transfer),
    IN_ORDER("raw", "interop, raw calls", &frames_raw),
    IN_ORDER("grinterop", "interop, grinterop", &grinterop),
    IN_ORDER("copy", "copy, grinterop", &grinterop, GR_TRANSPORT_COPY),
    IN_ORDER("shared", "shared, grinterop", &grinterop, GR_TRANSPORT_SHARED, true),
    IN_ORDER("peer", "peer, grinterop", &grinterop, GR_TRANSPORT_PEER, .across = true),
    IN_ORDER("image/interop", "texture, interop", &image, GR_TRANSPORT_INTEROP),
    IN_ORDER("image/copy", "texture, copy", &image, GR_TRANSPORT_COPY),
    IN_ORDER("image/peer", "texture, peer", &image, GR_TRANSPORT_PEER, .across = true),
    RING("ring/1", "1 in flight", 3, 1),
    RING("ring/16", "16 in flight", 18, 1),
    RING("group/8", "groups of 8, three in turn", 24, 8),
    RING("group/64", "groups of 64, two in turn", 128, 64),
    COPY("copy/1", "copy, 1 in flight", 3),
    COPY("copy/4", "copy, 4 in flight", 6),
    STAGED(4),
    STAGED(16),
    {.slots = 0},
};

#define READ(key, label, slots, group, ...)                                                        \
    FRAMES_ROW("OpenGL draws, CUDA reads", "read/" key, label, slots, group, __VA_ARGS__,          \
               .reads = true)
#define READ_STAGED(n) READ("staged/" #n, "in_flight " #n, n, 1, &grinterop, GR_TRANSPORT_PEER)
/* OpenGL clears the buffer by its copy engine, which works beside the shaders. */
#define CLEARED(key, label, slots, ...)                                                            \
    READ("cleared/" key, "cleared, " label, slots, 1, __VA_ARGS__, .clears = true)
#define READ_RING(key, label, slots, group)                                                        \
    READ("ring/" key, label, slots, group, &ring, GR_TRANSPORT_SHARED, true)

const struct frames_kind frames_read_rows[] = {
    READ("bound", "both, unsynchronised", 1, 1, &both, .unchecked = true),
    READ("raw", "interop, raw calls", 1, 1, &frames_raw),
    READ("grinterop", "interop, grinterop", 1, 1, &grinterop),
    READ("peer", "peer, grinterop", 1, 1, &grinterop, GR_TRANSPORT_PEER, .across = true),
    READ_STAGED(4),
    READ_STAGED(16),
    READ("copy", "copy, grinterop", 1, 1, &grinterop, GR_TRANSPORT_COPY),
    READ("copy/1", "copy, 1 in flight", 3, 1, &copy_ring, GR_TRANSPORT_COPY),
    READ("copy/4", "copy, 4 in flight", 6, 1, &copy_ring, GR_TRANSPORT_COPY),
    READ_RING("1", "ring, 1 in flight", 3, 1),
    READ_RING("16", "ring, 16 in flight", 18, 1),
    READ_RING("64", "ring, groups of 64", 128, 64),
    CLEARED("raw", "interop, raw calls", 1, &frames_raw),
    CLEARED("grinterop", "interop, grinterop", 1, &grinterop),
    CLEARED("staged/4", "in_flight 4", 4, &grinterop, GR_TRANSPORT_PEER),
    CLEARED("staged/16", "in_flight 16", 16, &grinterop, GR_TRANSPORT_PEER),
    {.slots = 0},
};
