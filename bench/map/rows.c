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

static bool fill_one(unsigned i)
{
    return CU(MemsetD32Async, map.pointers[i], FILL_VALUE, MAP_BYTES / 4, map.on.stream);
}

static bool fill(unsigned resources)
{
    for (unsigned i = 0; i < resources; i++)
        if (!fill_one(i))
            return false;
    return true;
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

static bool raw_pointer(unsigned i)
{
    size_t size;
    return CU(GraphicsResourceGetMappedPointer, &map.pointers[i], &size, map.handles[i]);
}

static bool raw_map_one(unsigned i)
{
    return CU(GraphicsMapResources, 1, &map.handles[i], map.on.stream) && raw_pointer(i);
}

static bool raw_release_one(unsigned i)
{
    return CU(GraphicsUnmapResources, 1, &map.handles[i], map.on.stream);
}

static bool grinterop_map_one(unsigned i)
{
    if (!GR_NEW(map.buffers[i], map, map.resources[i], map.on.stream))
        return false;
    map.pointers[i] = gr_buffer_ptr(map.buffers[i]);
    return true;
}

static bool grinterop_release_one(unsigned i)
{
    return GR(buffer_release, map.buffers[i]);
}

/* Asks the drivers what grinterop asks them at each map, and again at each release. */
static bool check(void)
{
    CUcontext context;
    CUstreamCaptureStatus capture;
    return glIsProgramPipeline(map.pipeline) && CU(CtxGetCurrent, &context) &&
           CU(StreamIsCapturing, map.on.stream, &capture);
}

static bool checked_map_one(unsigned i)
{
    return check() && raw_map_one(i);
}

static bool checked_release_one(unsigned i)
{
    return check() && raw_release_one(i);
}

/* ---- One call per resource ------------------------------------------------------------------- */

/* Defines the frames of a subject, so that the calls are not by pointers to functions. */
#define PAIRS(subject)                                                                             \
    static bool subject##_pairs(unsigned resources, bool work)                                     \
    {                                                                                              \
        for (unsigned i = 0; i < resources; i++) {                                                 \
            if (!subject##_map_one(i) || (work && !fill_one(i)) || !subject##_release_one(i))      \
                return false;                                                                      \
            if (work)                                                                              \
                copy_one(i);                                                                       \
        }                                                                                          \
        return true;                                                                               \
    }
#define SINGLY(subject)                                                                            \
    static bool subject##_singly(unsigned resources, bool work)                                    \
    {                                                                                              \
        for (unsigned i = 0; i < resources; i++)                                                   \
            if (!subject##_map_one(i))                                                             \
                return false;                                                                      \
        if (work && !fill(resources))                                                              \
            return false;                                                                          \
        for (unsigned i = 0; i < resources; i++)                                                   \
            if (!subject##_release_one(i))                                                         \
                return false;                                                                      \
        if (work)                                                                                  \
            copy(resources);                                                                       \
        return true;                                                                               \
    }

PAIRS(raw)
PAIRS(grinterop)
PAIRS(checked)
SINGLY(raw)
SINGLY(grinterop)

/* ---- One call for all ------------------------------------------------------------------------ */

static bool raw_batch(unsigned resources, bool work)
{
    if (!CU(GraphicsMapResources, resources, map.handles, map.on.stream))
        return false;
    for (unsigned i = 0; i < resources; i++)
        if (!raw_pointer(i))
            return false;
    if ((work && !fill(resources)) ||
        !CU(GraphicsUnmapResources, resources, map.handles, map.on.stream))
        return false;
    if (work)
        copy(resources);
    return true;
}

static bool grinterop_batch(unsigned resources, bool work)
{
    if (!GR(map_many, map.resources, resources, map.on.stream, NULL, map.buffers))
        return false;
    for (unsigned i = 0; i < resources; i++)
        map.pointers[i] = gr_buffer_ptr(map.buffers[i]);
    if ((work && !fill(resources)) ||
        !GR(buffer_release_many, map.buffers, resources, GR_STREAM_OF_MAP, NULL))
        return false;
    if (work)
        copy(resources);
    return true;
}

/* ---- Registration ---------------------------------------------------------------------------- */

static bool raw_register(unsigned resources, bool work)
{
    (void)resources, (void)work;
    CUgraphicsResource handle;
    return CU(GraphicsGLRegisterBuffer, &handle, map.spare, GR_WRITE_DISCARD) &&
           CU(GraphicsUnregisterResource, handle);
}

static bool grinterop_register(unsigned resources, bool work)
{
    (void)resources, (void)work;
    gr_resource *resource;
    if (!GR_NEW(resource, from_gl_buffer, map.spare, GR_WRITE_DISCARD))
        return false;
    const bool good = GR(resource_close, resource, GR_STREAM_OF_MAP);
    gr_resource_free(resource);
    return good;
}

/* ---- The table ------------------------------------------------------------------------------- */

#define ROW(name, what, title, ...)                                                                \
    {                                                                                              \
        {name, what, title, map_measure}, __VA_ARGS__                                              \
    }
#define ROOM(name, what, ...)                                                                      \
    ROW(name, what, "Map and release, room in the queues: CPU time", false, __VA_ARGS__)
#define ONLY(name, what, ...)                                                                      \
    ROW(name, what, "Map and release, queues full: sustained time", false, __VA_ARGS__)
#define FRAME(name, what, ...)                                                                     \
    ROW(name, what, "Map, fill, release, copy, queues full: sustained time", true, __VA_ARGS__)
#define MANY(name)                                                                                 \
    {                                                                                              \
        .row = { name, "buffers", "Many resources, each", map_many }                               \
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
    MANY("many/interop"),
    MANY("many/copy"),
    MANY("many/shared"),
    MANY("many/packed"),
    /* Last: once a Vulkan instance has ended, no OpenGL context becomes current any more. */
    MANY("many/vulkan"),
    {.resources = 0},
};
