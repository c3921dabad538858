/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The rows of the table. */
#define _GNU_SOURCE
#include "bench/vulkan/vulkan.h"

const char *const vkb_part_titles[VKB_PARTS] = {
    [VKB_IMPORT] = "Export from Vulkan, import, destroy (drained before each block)",
    [VKB_ROOM_RELEASE] = "Map and release, release semaphore only, room in the queues: CPU time",
    [VKB_ROOM_BOTH] = "Map and release, both semaphores, room in the queues: CPU time",
    [VKB_SMALL_BOTH] = "Map, CUDA fills a little, release, both semaphores: CPU time, sustained",
    [VKB_FULL_BOTH] = "Map, CUDA fills much, release, both semaphores, queues full: sustained time",
    [VKB_PING_PONG + VKB_GRAPHICS] =
        "Round trip by the graphics queue, queues full: sustained time",
    [VKB_PING_PONG + VKB_COMPUTE] = "Round trip by the compute queue, queues full: sustained time",
    [VKB_PING_PONG + VKB_TRANSFER] =
        "Round trip by the transfer queue, queues full: sustained time",
};

/* the raw function and the grinterop function */
static const vkb_frame_fn BUFFER[VKB_SIDES] = {vkb_import_buffer_raw, vkb_import_buffer_grinterop};
static const vkb_frame_fn USED[VKB_SIDES] = {vkb_import_used_raw, vkb_import_used_grinterop};
static const vkb_frame_fn IMAGE[VKB_SIDES] = {vkb_import_image_raw, vkb_import_image_grinterop};
static const vkb_frame_fn SINGLY[VKB_SIDES] = {vkb_map_raw, vkb_map_singly_grinterop};
static const vkb_frame_fn BATCH[VKB_SIDES] = {vkb_map_raw, vkb_map_batch_grinterop};
static const vkb_frame_fn CUDA[VKB_SIDES] = {vkb_cuda_alone, NULL};
static const vkb_frame_fn QUEUE[VKB_SIDES] = {vkb_queue_alone, NULL};
static const vkb_frame_fn TRIP[VKB_SIDES] = {vkb_ping_pong_raw, vkb_ping_pong_grinterop};
static const vkb_frame_fn MANY[VKB_SIDES] = {vkb_batch_raw, vkb_batch_grinterop};

#define BY_GRAPHICS (VKB_PING_PONG + VKB_GRAPHICS)
#define BY_COMPUTE  (VKB_PING_PONG + VKB_COMPUTE)
#define BY_TRANSFER (VKB_PING_PONG + VKB_TRANSFER)

/*
 * All rows. Drained blocks are so short that they never wait for room in the CUDA queue. "CUDA
 * alone" and "queue alone" are the parts of a round trip. Their sum is the bound for one resource
 * in order, and the longer part is the bound for several resources. Both parts signal, so that
 * their completion is known. "8 in a call" is one vkQueueSubmit call for 8 round trips, each with
 * its own semaphore values. "Batches of 8" are two batches in turn: the 8 resources of a batch
 * share one submit with one wait and one signal.
 */
const struct vkb_kind vkb_kinds[] = {
    {"import/buffer", "buffer", VKB_IMPORT, 1, 0, 4, false, BUFFER, 1, 1},
    {"import/used", "buffer, filled", VKB_IMPORT, 1, 0, 4, false, USED, 1, 1},
    {"import/image", "image", VKB_IMPORT, 1, 0, 4, false, IMAGE, 1, 1},
    {"release/one", "one resource", VKB_ROOM_RELEASE, 1, 1, 32, true, SINGLY, 1, 1},
    {"release/singly", "32 singly", VKB_ROOM_RELEASE, 32, 32, 1, true, SINGLY, 1, 1},
    {"release/batch", "32 in one batch", VKB_ROOM_RELEASE, 32, 1, 16, true, BATCH, 1, 1},
    {"both/one", "one resource", VKB_ROOM_BOTH, 1, 1, 32, true, SINGLY, 1, 1},
    {"both/singly", "32 singly", VKB_ROOM_BOTH, 32, 32, 1, true, SINGLY, 1, 1},
    {"both/batch", "32 in one batch", VKB_ROOM_BOTH, 32, 1, 16, true, BATCH, 1, 1},
    {"small/one", "one resource", VKB_SMALL_BOTH, 1, 1, 0, true, SINGLY, 1, 1},
    {"small/singly", "32 singly", VKB_SMALL_BOTH, 32, 32, 0, true, SINGLY, 1, 1},
    {"small/batch", "32 in one batch", VKB_SMALL_BOTH, 32, 1, 0, true, BATCH, 1, 1},
    {"full/one", "one resource", VKB_FULL_BOTH, 1, 1, 0, true, SINGLY, 1, 1},
    {"full/singly", "32 singly", VKB_FULL_BOTH, 32, 32, 0, true, SINGLY, 1, 1},
    {"full/batch", "32 in one batch", VKB_FULL_BOTH, 32, 1, 0, true, BATCH, 1, 1},
    {"graphics/cuda", "CUDA alone", BY_GRAPHICS, 1, 1, 0, true, CUDA, 1, 1},
    {"graphics/queue", "queue alone", BY_GRAPHICS, 1, 1, 0, false, QUEUE, 1, 1},
    {"graphics/queue8x", "it, 8 in a call", BY_GRAPHICS, 1, 1, 0, false, QUEUE, 8, 1},
    {"graphics/1", "one, in order", BY_GRAPHICS, 1, 1, 0, false, TRIP, 1, 1},
    {"graphics/2", "2 in turn", BY_GRAPHICS, 2, 1, 0, false, TRIP, 1, 1},
    {"graphics/4", "4 in turn", BY_GRAPHICS, 4, 1, 0, false, TRIP, 1, 1},
    {"graphics/8", "8 in turn", BY_GRAPHICS, 8, 1, 0, false, TRIP, 1, 1},
    {"graphics/8x", "8 in one call", BY_GRAPHICS, 8, 1, 0, false, TRIP, 8, 1},
    {"graphics/16x", "16 in one call", BY_GRAPHICS, 16, 1, 0, false, TRIP, 16, 1},
    {"graphics/8b", "batches of 8", BY_GRAPHICS, 16, 1, 0, false, MANY, 1, 8},
    {"compute/cuda", "CUDA alone", BY_COMPUTE, 1, 1, 0, true, CUDA, 1, 1},
    {"compute/queue", "queue alone", BY_COMPUTE, 1, 1, 0, false, QUEUE, 1, 1},
    {"compute/queue8x", "it, 8 in a call", BY_COMPUTE, 1, 1, 0, false, QUEUE, 8, 1},
    {"compute/1", "one, in order", BY_COMPUTE, 1, 1, 0, false, TRIP, 1, 1},
    {"compute/2", "2 in turn", BY_COMPUTE, 2, 1, 0, false, TRIP, 1, 1},
    {"compute/4", "4 in turn", BY_COMPUTE, 4, 1, 0, false, TRIP, 1, 1},
    {"compute/8", "8 in turn", BY_COMPUTE, 8, 1, 0, false, TRIP, 1, 1},
    {"compute/8x", "8 in one call", BY_COMPUTE, 8, 1, 0, false, TRIP, 8, 1},
    {"compute/16x", "16 in one call", BY_COMPUTE, 16, 1, 0, false, TRIP, 16, 1},
    {"compute/8b", "batches of 8", BY_COMPUTE, 16, 1, 0, false, MANY, 1, 8},
    {"transfer/cuda", "CUDA alone", BY_TRANSFER, 1, 1, 0, true, CUDA, 1, 1},
    {"transfer/queue", "queue alone", BY_TRANSFER, 1, 1, 0, false, QUEUE, 1, 1},
    {"transfer/queue8x", "it, 8 in a call", BY_TRANSFER, 1, 1, 0, false, QUEUE, 8, 1},
    {"transfer/1", "one, in order", BY_TRANSFER, 1, 1, 0, false, TRIP, 1, 1},
    {"transfer/2", "2 in turn", BY_TRANSFER, 2, 1, 0, false, TRIP, 1, 1},
    {"transfer/4", "4 in turn", BY_TRANSFER, 4, 1, 0, false, TRIP, 1, 1},
    {"transfer/8", "8 in turn", BY_TRANSFER, 8, 1, 0, false, TRIP, 1, 1},
    {"transfer/8x", "8 in one call", BY_TRANSFER, 8, 1, 0, false, TRIP, 8, 1},
    {"transfer/16x", "16 in one call", BY_TRANSFER, 16, 1, 0, false, TRIP, 16, 1},
    {"transfer/8b", "batches of 8", BY_TRANSFER, 16, 1, 0, false, MANY, 1, 8},
};

const size_t vkb_kind_count = sizeof(vkb_kinds) / sizeof(vkb_kinds[0]);

_Static_assert(sizeof(vkb_kinds) / sizeof(vkb_kinds[0]) <= VKB_ROWS, "the table holds all rows");

bool vkb_can_run(const struct vkb *bench, const struct vkb_kind *kind)
{
    return bench->queues[vkb_queue_of(kind)] != VK_NULL_HANDLE;
}

/* Whether CUDA fills the buffers between the maps and the releases of the row. */
bool vkb_has_fills(const struct vkb_kind *kind)
{
    return kind->part == VKB_SMALL_BOTH || kind->part == VKB_FULL_BOTH;
}
