/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The rows of bench_latency. As in bench_frames, the frames in flight are those between the frame
 * that CUDA writes and the frame that is drawn. The ring also has slots for these two frames.
 */
#include "bench/latency/latency.h"

const struct latency_row latency_rows[] = {
    {"alone", "nobody waits", "bound", 0, false, LATENCY_OPENGL, false},
    {"interop", "interop, in order", "grinterop", 0, false, LATENCY_OPENGL, false},
    {"peer", "peer, in order", "peer", 0, false, LATENCY_OPENGL, true},
    {"shared", "shared, in order", "shared", 0, false, LATENCY_OPENGL, false},
    {"ring/1", "shared, 1 in flight", "ring/1", 3, false, LATENCY_OPENGL, false},
    {"ring/2", "shared, 2 in flight", "ring/1", 4, false, LATENCY_OPENGL, false},
    {"ring/3", "shared, 3 in flight", "ring/1", 5, false, LATENCY_OPENGL, false},
    {"threads/1", "1 in flight, two threads", "ring/1", 3, true, LATENCY_OPENGL, false},
    {"threads/3", "3 in flight, two threads", "ring/1", 5, true, LATENCY_OPENGL, false},
    {"hand/1", "shared, raw, 1 in flight", "hand/1", 3, false, LATENCY_OPENGL, false},
    {"vulkan/1", "Vulkan, 1 in flight", "vulkan/1", 3, false, LATENCY_VULKAN, false},
    {"vulkan/2", "Vulkan, 2 in flight", "vulkan/1", 4, false, LATENCY_VULKAN, false},
    {"vulkan/3", "Vulkan, 3 in flight", "vulkan/1", 5, false, LATENCY_VULKAN, false},
};
const size_t latency_row_count = sizeof(latency_rows) / sizeof(latency_rows[0]);
