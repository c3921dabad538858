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

static void fill_one(unsigned i)
{
    CU(MemsetD32Async, map.pointers[i], FILL_VALUE, MAP_BYTES / 4, map.on.stream);
}

static void fill(unsigned resources)
{
    for (unsigned i = 0; i < resources; i++)
        fill_one(i);
}

static void copy_one(unsigned i)
{
    glBindBuffer(GL_COPY_READ_BUFFER, map.names[i]);
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, MAP_BYTES);
}

static void copy(unsigned resources)
{
    for (unsigned i = 0; i < resources; i++)
        copy_one(i);
}

static void raw_pointer(unsigned i)
{
    size_t size;
    CU(GraphicsResourceGetMappedPointer, &map.pointers[i], &size, map.handles[i]);
}

static void raw_map_one(unsigned i)
{
    CU(GraphicsMapResources, 1, &map.handles[i], map.on.stream);
    raw_pointer(i);
}

static void raw_release_one(unsigned i)
{
    CU(GraphicsUnmapResources, 1, &map.handles[i], map.on.stream);
}

static void grinterop_map_one(unsigned i)
{
    GR_NEW(map.buffers[i], map, map.resources[i], map.on.stream);
    map.pointers[i] = gr_buffer_ptr(map.buffers[i]);
}

static void grinterop_release_one(unsigned i)
{
    GR(buffer_release, map.buffers[i]);
}

/* Asks the drivers what grinterop asks them at each map, and again at each release. */
static void check(void)
{
    CUcontext context;
    CUstreamCaptureStatus capture;
    if (!glIsProgramPipeline(map.pipeline))
        bench_fail("OpenGL has lost its program pipeline");
    CU(CtxGetCurrent, &context);
    CU(StreamIsCapturing, map.on.stream, &capture);
}

static void checked_map_one(unsigned i)
{
    check();
    raw_map_one(i);
}

static void checked_release_one(unsigned i)
{
    check();
    raw_release_one(i);
}

/* ---- One call per resource ------------------------------------------------------------------- */

/* Defines the frames of a subject, so that the calls are not by pointers to functions. */
#define PAIRS(subject)                                                                             \
    static void subject##_pairs(unsigned resources, bool work)                                     \
    {                                                                                              \
        for (unsigned i = 0; i < resources; i++) {                                                 \
            subject##_map_one(i);                                                                  \
            if (work)                                                                              \
                fill_one(i);                                                                       \
            subject##_release_one(i);                                                              \
            if (work)                                                                              \
                copy_one(i);                                                                       \
        }                                                                                          \
    }
#define SINGLY(subject)                                                                            \
    static void subject##_singly(unsigned resources, bool work)                                    \
    {                                                                                              \
        for (unsigned i = 0; i < resources; i++)                                                   \
            subject##_map_one(i);                                                                  \
        fill(work ? resources : 0);                                                                \
        for (unsigned i = 0; i < resources; i++)                                                   \
            subject##_release_one(i);                                                              \
        copy(work ? resources : 0);                                                                \
    }

PAIRS(raw)
PAIRS(grinterop)
PAIRS(checked)
SINGLY(raw)
SINGLY(grinterop)

/* ---- One call for all ------------------------------------------------------------------------ */

static void raw_batch(unsigned resources, bool work)
{
    CU(GraphicsMapResources, resources, map.handles, map.on.stream);
    for (unsigned i = 0; i < resources; i++)
        raw_pointer(i);
    fill(work ? resources : 0);
    CU(GraphicsUnmapResources, resources, map.handles, map.on.stream);
    copy(work ? resources : 0);
}

static void grinterop_batch(unsigned resources, bool work)
{
    GR(map_many, map.resources, resources, map.on.stream, NULL, map.buffers);
    for (unsigned i = 0; i < resources; i++)
        map.pointers[i] = gr_buffer_ptr(map.buffers[i]);
    fill(work ? resources : 0);
    GR(buffer_release_many, map.buffers, resources, GR_STREAM_OF_MAP, NULL);
    copy(work ? resources : 0);
}

/* ---- Registration ---------------------------------------------------------------------------- */

static void raw_register(unsigned resources, bool work)
{
    (void)resources, (void)work;
    CUgraphicsResource handle;
    CU(GraphicsGLRegisterBuffer, &handle, map.spare, GR_WRITE_DISCARD);
    CU(GraphicsUnregisterResource, handle);
}

static void grinterop_register(unsigned resources, bool work)
{
    (void)resources, (void)work;
    gr_resource *resource;
    GR_NEW(resource, from_gl_buffer, map.spare, GR_WRITE_DISCARD);
    GR(resource_close, resource, GR_STREAM_OF_MAP);
    gr_resource_free(resource);
}

/* ---- The table ------------------------------------------------------------------------------- */

#define ROW(name, what, title, ...)                                                                \
    {                                                                                              \
        {name, what, title, map_measure}, __VA_ARGS__, .packed = false                             \
    }
#define ROOM(name, what, ...)                                                                      \
    ROW(name, what, "Map and release, room in the queues: CPU time", false, __VA_ARGS__)
#define ONLY(name, what, ...)                                                                      \
    ROW(name, what, "Map and release, queues full: sustained time", false, __VA_ARGS__)
#define FRAME(name, what, ...)                                                                     \
    ROW(name, what, "Map, fill, release, copy, queues full: sustained time", true, __VA_ARGS__)
#define MANY(name, ...)                                                                            \
    {                                                                                              \
        .row = {name, "buffers", "Many resources, each", map_many}, __VA_ARGS__                    \
    }

/*
 * Drained blocks are short: on an H200, the second half of a block of 96 pairs took 1.9 times as
 * long as the first. Blocks with full queues need few frames, since the GPU times vary by a
 * thousandth. With 32 pairs they need the fewest frames, because each pair makes the GPU switch
 * between OpenGL and CUDA.
 */
const struct map_kind map_kinds[] = {
    ROOM("room/one", "one resource", 1, 16, 0, {raw_pairs, grinterop_pairs}),
    ROOM("room/checks", "raw with checks", 1, 16, 0, {raw_pairs, checked_pairs}),
    ROOM("room/pairs", "32 pairs", 32, 1, 0, {raw_pairs, grinterop_pairs}),
    ROOM("room/singly", "32 singly", 32, 1, 0, {raw_singly, grinterop_singly}),
    ROOM("room/batch", "32 in one batch", 32, 4, 0, {raw_batch, grinterop_batch}),
    ONLY("map/one", "one resource", 1, 16, 100, {raw_pairs, grinterop_pairs}),
    ONLY("map/pairs", "32 pairs", 32, 1, 5, {raw_pairs, grinterop_pairs}),
    ONLY("map/singly", "32 singly", 32, 1, 50, {raw_singly, grinterop_singly}),
    ONLY("map/batch", "32 in one batch", 32, 4, 100, {raw_batch, grinterop_batch}),
    FRAME("frame/one", "one resource", 1, 16, 100, {raw_pairs, grinterop_pairs}),
    FRAME("frame/pairs", "32 pairs", 32, 1, 5, {raw_pairs, grinterop_pairs}),
    FRAME("frame/singly", "32 singly", 32, 1, 50, {raw_singly, grinterop_singly}),
    FRAME("frame/batch", "32 in one batch", 32, 2, 50, {raw_batch, grinterop_batch}),
    ROW("register/one", "one resource", "Register and unregister", false, 1, 8, 0,
        {raw_register, grinterop_register}),
    MANY("many/interop", .transport = GR_TRANSPORT_INTEROP),
    MANY("many/copy", .transport = GR_TRANSPORT_COPY),
    MANY("many/shared", .transport = GR_TRANSPORT_SHARED),
    MANY("many/packed", .transport = GR_TRANSPORT_SHARED, .packed = true),
    /* Last: once a Vulkan instance has ended, no OpenGL context becomes current any more. */
    MANY("many/vulkan", .transport = 0),
    {.resources = 0},
};
