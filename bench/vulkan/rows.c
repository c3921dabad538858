/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The rows of the table. */
#define _GNU_SOURCE
#include "bench/vulkan/vulkan.h"

/* the raw function and the grinterop function */
static const vkb_frame_fn BUFFER[VKB_SIDES] = {vkb_import_buffer_raw, vkb_import_buffer_grinterop};
static const vkb_frame_fn USED[VKB_SIDES] = {vkb_import_used_raw, vkb_import_used_grinterop};
static const vkb_frame_fn IMAGE[VKB_SIDES] = {vkb_import_image_raw, vkb_import_image_grinterop};
static const vkb_frame_fn SINGLY[VKB_SIDES] = {vkb_map_raw, vkb_map_singly_grinterop};
static const vkb_frame_fn BATCH[VKB_SIDES] = {vkb_map_raw, vkb_map_batch_grinterop};
static const vkb_frame_fn CUDA[VKB_SIDES] = {vkb_cuda_alone, NULL};
static const vkb_frame_fn QUEUE[VKB_SIDES] = {vkb_queue_alone, NULL};
static const vkb_frame_fn PING_PONG[VKB_SIDES] = {vkb_ping_pong_raw, vkb_ping_pong_grinterop};
static const vkb_frame_fn STAGED[VKB_SIDES] = {vkb_staged, vkb_staged};
static const vkb_frame_fn MANY[VKB_SIDES] = {vkb_batch_raw, vkb_batch_grinterop};

#define ROW(name, what, part, title, ...)                                                          \
    {                                                                                              \
        {name, what, title, vkb_measure}, part, __VA_ARGS__, .bytes = 0                            \
    }
#define IMPORT(name, what, frame)                                                                  \
    ROW(name, what, VKB_IMPORT, "Export from Vulkan, import, destroy", 1, 0, 4, false, frame, 1, 1)
#define RELEASE(name, what, ...)                                                                   \
    ROW(name, what, VKB_ROOM_RELEASE,                                                              \
        "Map and release, release semaphore only, room in the queues: CPU time", __VA_ARGS__, 1,   \
        1)
#define BOTH(name, what, ...)                                                                      \
    ROW(name, what, VKB_ROOM_BOTH,                                                                 \
        "Map and release, both semaphores, room in the queues: CPU time", __VA_ARGS__, 1, 1)
#define TRIP(queue, part, way, what, resources, frame, submits, copies)                            \
    ROW(queue "/" way, what, VKB_PING_PONG + (part),                                               \
        "Round trip by the " queue " queue, queues full: sustained time", resources, 1, 0, false,  \
        frame, submits, copies)
/* The rows of a queue. */
#define TRIPS(queue, part)                                                                         \
    ROW(queue "/cuda", "CUDA alone", VKB_PING_PONG + (part),                                       \
        "Round trip by the " queue " queue, queues full: sustained time", 1, 1, 0, true, CUDA, 1,  \
        1),                                                                                        \
        TRIP(queue, part, "queue", "queue alone", 1, QUEUE, 1, 1),                                 \
        TRIP(queue, part, "queue8x", "it, 8 in a call", 1, QUEUE, 8, 1),                           \
        TRIP(queue, part, "1", "one, in order", 1, PING_PONG, 1, 1),                               \
        TRIP(queue, part, "2", "2 in turn", 2, PING_PONG, 1, 1),                                   \
        TRIP(queue, part, "4", "4 in turn", 4, PING_PONG, 1, 1),                                   \
        TRIP(queue, part, "8", "8 in turn", 8, PING_PONG, 1, 1),                                   \
        TRIP(queue, part, "8x", "8 in one call", 8, PING_PONG, 8, 1),                              \
        TRIP(queue, part, "16x", "16 in one call", 16, PING_PONG, 16, 1),                          \
        TRIP(queue, part, "8b", "batches of 8", 16, MANY, 1, 8)
#define STAGED_ROW(key, what, n, size, is_image)                                                   \
    {                                                                                              \
        .row = {"staged/" key, what, "Copied, beside shared memory: sustained time", vkb_measure}, \
        .part = VKB_STAGED, .resources = 1, .points = 1, .frame = STAGED, .submits = 1,            \
        .copies = 1, .bytes = size, .in_flight = n, .image = is_image                              \
    }
/* The rows of a size: in order, with frames in flight, and through host memory. */
#define STAGED_ROWS(key, what, size, image)                                                        \
    STAGED_ROW(key "/0", what ", in order", 0, size, image),                                       \
        STAGED_ROW(key "/2", what ", in_flight 2", 2, size, image),                                \
        STAGED_ROW(key "/4", what ", in_flight 4", 4, size, image),                                \
        STAGED_ROW(key "/8", what ", in_flight 8", 8, size, image),                                \
        STAGED_ROW(key "/16", what ", in_flight 16", 16, size, image),                             \
        STAGED_ROW(key "/host", what ", through the host", VKB_HOST, size, image)

/*
 * All rows. Drained blocks are so short that they never wait for room in the CUDA queue. "CUDA
 * alone" and "queue alone" are the parts of a round trip. Their sum is the bound for one resource
 * in order, and the longer part is the bound for several resources. Both parts signal, so that
 * their completion is known. "8 in a call" is one vkQueueSubmit call for 8 round trips, each with
 * its own semaphore values. "Batches of 8" are two batches in turn: the 8 resources of a batch
 * share one submit with one wait and one signal.
 */
const struct vkb_kind vkb_kinds[] = {
    IMPORT("import/buffer", "buffer", BUFFER),
    IMPORT("import/used", "buffer, filled", USED),
    IMPORT("import/image", "image", IMAGE),
    RELEASE("release/one", "one resource", 1, 1, 32, true, SINGLY),
    RELEASE("release/singly", "32 singly", 32, 32, 1, true, SINGLY),
    RELEASE("release/batch", "32 in one batch", 32, 1, 16, true, BATCH),
    BOTH("both/one", "one resource", 1, 1, 32, true, SINGLY),
    BOTH("both/singly", "32 singly", 32, 32, 1, true, SINGLY),
    BOTH("both/batch", "32 in one batch", 32, 1, 16, true, BATCH),
    TRIPS("graphics", VKB_GRAPHICS),
    TRIPS("compute", VKB_COMPUTE),
    TRIPS("transfer", VKB_TRANSFER),
    STAGED_ROWS("64K", "64 KiB", 1 << 16, false),
    STAGED_ROWS("1M", "1 MiB", 1 << 20, false),
    STAGED_ROWS("16M", "16 MiB", 1 << 24, false),
    STAGED_ROWS("image", "RGBA8 1080p", 1920 * 1080 * 4, true),
    {.resources = 0},
};
