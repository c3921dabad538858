/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Runs the measured frames, with the driver API and with the library, and defines the rows of the
 * table. A frame maps, gets the pointer and releases. There are three ways to handle many
 * resources:
 * - pairs: each resource is mapped and released before the next, as in a program that processes its
 *   resources one by one;
 * - singly: each resource is mapped by its own call, then each is released by its own call;
 * - batch: one call maps all resources and one call releases them.
 *
 * In a frame with work, CUDA also fills each buffer and OpenGL copies it. Fills and copies are the
 * cheapest work that needs a map, so they hide the least of the library's own time.
 */
#define _GNU_SOURCE
#include <epoxy/gl.h>

#include "bench/map/map.h"

static const unsigned FILL_VALUE = 0x3f800000u;

bool map_drain(struct map_bench *bench)
{
    if (!bench_cuda_ok(bench->cuda->StreamSynchronize(bench->on.stream), "cuStreamSynchronize"))
        return false;
    glFinish();
    return true;
}

static bool fill_one(struct map_bench *bench, unsigned i)
{
    return bench_cuda_ok(bench->cuda->MemsetD32Async(bench->pointers[i], FILL_VALUE, MAP_BYTES / 4,
                                                     bench->on.stream),
                         "cuMemsetD32Async");
}

static bool fill(struct map_bench *bench, unsigned resources)
{
    for (unsigned i = 0; i < resources; i++)
        if (!fill_one(bench, i))
            return false;
    return true;
}

static void copy_one(const struct map_bench *bench, unsigned i)
{
    glBindBuffer(GL_COPY_READ_BUFFER, bench->names[i]);
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, MAP_BYTES);
}

static void copy(const struct map_bench *bench, unsigned resources)
{
    for (unsigned i = 0; i < resources; i++)
        copy_one(bench, i);
}

static bool raw_pointer(struct map_bench *bench, unsigned i)
{
    size_t size;
    return bench_cuda_ok(bench->cuda->GraphicsResourceGetMappedPointer(&bench->pointers[i], &size,
                                                                       bench->handles[i]),
                         "cuGraphicsResourceGetMappedPointer");
}

static bool raw_map_one(struct map_bench *bench, unsigned i)
{
    if (!bench_cuda_ok(bench->cuda->GraphicsMapResources(1, &bench->handles[i], bench->on.stream),
                       "cuGraphicsMapResources"))
        return false;
    return raw_pointer(bench, i);
}

static bool raw_release_one(struct map_bench *bench, unsigned i)
{
    return bench_cuda_ok(
        bench->cuda->GraphicsUnmapResources(1, &bench->handles[i], bench->on.stream),
        "cuGraphicsUnmapResources");
}

static bool grinterop_map_one(struct map_bench *bench, unsigned i)
{
    bench->buffers[i] = gr_map(bench->resources[i], bench->on.stream);
    if (!bench->buffers[i])
        return bench_grinterop_failed("gr_map");
    bench->pointers[i] = gr_buffer_ptr(bench->buffers[i]);
    return true;
}

static bool grinterop_release_one(struct map_bench *bench, unsigned i)
{
    return gr_buffer_release(bench->buffers[i]) == GR_OK ||
           bench_grinterop_failed("gr_buffer_release");
}

/* ---- By raw calls that make the checks of grinterop ------------------------------------------ */

/* Asks the drivers what grinterop asks them at each map, and again at each release. */
static bool check(const struct map_bench *bench)
{
    CUcontext context;
    CUstreamCaptureStatus capture;
    return glIsProgramPipeline(bench->pipeline) &&
           bench_cuda_ok(bench->cuda->CtxGetCurrent(&context), "cuCtxGetCurrent") &&
           bench_cuda_ok(bench->cuda->StreamIsCapturing(bench->on.stream, &capture),
                         "cuStreamIsCapturing");
}

static bool checked_map_one(struct map_bench *bench, unsigned i)
{
    return check(bench) && raw_map_one(bench, i);
}

static bool checked_release_one(struct map_bench *bench, unsigned i)
{
    return check(bench) && raw_release_one(bench, i);
}

/* ---- One call per resource ------------------------------------------------------------------- */

typedef bool (*one_fn)(struct map_bench *bench, unsigned i);

static inline bool pairs(struct map_bench *bench, unsigned resources, bool work, one_fn map,
                         one_fn release)
{
    for (unsigned i = 0; i < resources; i++) {
        if (!map(bench, i) || (work && !fill_one(bench, i)) || !release(bench, i))
            return false;
        if (work)
            copy_one(bench, i);
    }
    return true;
}

static inline bool singly(struct map_bench *bench, unsigned resources, bool work, one_fn map,
                          one_fn release)
{
    for (unsigned i = 0; i < resources; i++)
        if (!map(bench, i))
            return false;
    if (work && !fill(bench, resources))
        return false;
    for (unsigned i = 0; i < resources; i++)
        if (!release(bench, i))
            return false;
    if (work)
        copy(bench, resources);
    return true;
}

static bool raw_pairs(struct map_bench *bench, unsigned resources, bool work)
{
    return pairs(bench, resources, work, raw_map_one, raw_release_one);
}

static bool grinterop_pairs(struct map_bench *bench, unsigned resources, bool work)
{
    return pairs(bench, resources, work, grinterop_map_one, grinterop_release_one);
}

static bool checked_pairs(struct map_bench *bench, unsigned resources, bool work)
{
    return pairs(bench, resources, work, checked_map_one, checked_release_one);
}

static bool raw_singly(struct map_bench *bench, unsigned resources, bool work)
{
    return singly(bench, resources, work, raw_map_one, raw_release_one);
}

static bool grinterop_singly(struct map_bench *bench, unsigned resources, bool work)
{
    return singly(bench, resources, work, grinterop_map_one, grinterop_release_one);
}

/* ---- One call for all ------------------------------------------------------------------------ */

static bool raw_batch(struct map_bench *bench, unsigned resources, bool work)
{
    if (!bench_cuda_ok(
            bench->cuda->GraphicsMapResources(resources, bench->handles, bench->on.stream),
            "cuGraphicsMapResources"))
        return false;
    for (unsigned i = 0; i < resources; i++)
        if (!raw_pointer(bench, i))
            return false;
    if (work && !fill(bench, resources))
        return false;
    if (!bench_cuda_ok(
            bench->cuda->GraphicsUnmapResources(resources, bench->handles, bench->on.stream),
            "cuGraphicsUnmapResources"))
        return false;
    if (work)
        copy(bench, resources);
    return true;
}

static bool grinterop_batch(struct map_bench *bench, unsigned resources, bool work)
{
    if (gr_map_many(bench->resources, resources, bench->on.stream, NULL, bench->buffers) != GR_OK)
        return bench_grinterop_failed("gr_map_many");
    for (unsigned i = 0; i < resources; i++)
        bench->pointers[i] = gr_buffer_ptr(bench->buffers[i]);
    if (work && !fill(bench, resources))
        return false;
    if (gr_buffer_release_many(bench->buffers, resources, GR_STREAM_OF_MAP, NULL) != GR_OK)
        return bench_grinterop_failed("gr_buffer_release_many");
    if (work)
        copy(bench, resources);
    return true;
}

/* ---- Registration ---------------------------------------------------------------------------- */

static bool raw_register(struct map_bench *bench, unsigned resources, bool work)
{
    (void)resources, (void)work;
    CUgraphicsResource handle;
    if (!bench_cuda_ok(
            bench->cuda->GraphicsGLRegisterBuffer(&handle, bench->spare, GR_WRITE_DISCARD),
            "cuGraphicsGLRegisterBuffer"))
        return false;
    return bench_cuda_ok(bench->cuda->GraphicsUnregisterResource(handle),
                         "cuGraphicsUnregisterResource");
}

static bool grinterop_register(struct map_bench *bench, unsigned resources, bool work)
{
    (void)resources, (void)work;
    gr_resource *resource = gr_from_gl_buffer(bench->spare, GR_WRITE_DISCARD);
    if (!resource)
        return bench_grinterop_failed("gr_from_gl_buffer");
    gr_status status = gr_resource_close(resource, GR_STREAM_OF_MAP);
    gr_resource_free(resource);
    if (status != GR_OK)
        return bench_grinterop_failed("gr_resource_close");
    return true;
}

#define ROW(name, what, part, title, ...)                                                          \
    {                                                                                              \
        {name, what, title, map_measure}, part, __VA_ARGS__                                        \
    }
#define ROOM(name, what, ...)                                                                      \
    ROW(name, what, MAP_ROOM, "Map and release, room in the queues: CPU time", __VA_ARGS__)
#define ONLY(name, what, ...)                                                                      \
    ROW(name, what, MAP_ONLY, "Map and release, queues full: sustained time", __VA_ARGS__)
#define FRAME(name, what, ...)                                                                     \
    ROW(name, what, MAP_FRAME, "Map, fill, release, copy, queues full: sustained time", __VA_ARGS__)

#define MANY(name)                                                                                 \
    {                                                                                              \
        .row = {name, "buffers", "Many resources, each", map_many}, .part = MAP_MANY               \
    }

/*
 * Drained blocks are short: on an H200, the second half of a block of 96 pairs took 1.9 times as
 * long as the first. Blocks with full queues need few frames, since the GPU times vary by a
 * thousandth. With 32 pairs they need the fewest frames, because each pair makes the GPU switch
 * between OpenGL and CUDA.
 */
const struct map_kind map_kinds[] = {
    ROOM("room/one", "one resource", 1, 1, 16, 0, {raw_pairs, grinterop_pairs}),
    ROOM("room/checks", "raw with checks", 1, 1, 16, 0, {raw_pairs, checked_pairs}),
    ROOM("room/pairs", "32 pairs", 32, 32, 1, 0, {raw_pairs, grinterop_pairs}),
    ROOM("room/singly", "32 singly", 32, 32, 1, 0, {raw_singly, grinterop_singly}),
    ROOM("room/batch", "32 in one batch", 32, 1, 4, 0, {raw_batch, grinterop_batch}),
    ONLY("map/one", "one resource", 1, 1, 16, 100, {raw_pairs, grinterop_pairs}),
    ONLY("map/pairs", "32 pairs", 32, 32, 1, 5, {raw_pairs, grinterop_pairs}),
    ONLY("map/singly", "32 singly", 32, 32, 1, 50, {raw_singly, grinterop_singly}),
    ONLY("map/batch", "32 in one batch", 32, 1, 4, 100, {raw_batch, grinterop_batch}),
    FRAME("frame/one", "one resource", 1, 1, 16, 100, {raw_pairs, grinterop_pairs}),
    FRAME("frame/pairs", "32 pairs", 32, 32, 1, 5, {raw_pairs, grinterop_pairs}),
    FRAME("frame/singly", "32 singly", 32, 32, 1, 50, {raw_singly, grinterop_singly}),
    FRAME("frame/batch", "32 in one batch", 32, 1, 2, 50, {raw_batch, grinterop_batch}),
    ROW("register/one", "one resource", MAP_REGISTER, "Register and unregister", 1, 1, 8, 0,
        {raw_register, grinterop_register}),
    MANY("many/interop"),
    MANY("many/copy"),
    MANY("many/shared"),
    MANY("many/packed"),
    /* Last: once a Vulkan instance has ended, no OpenGL context becomes current any more. */
    MANY("many/vulkan"),
    {.resources = 0},
};
