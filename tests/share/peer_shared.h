/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * For test_peer_shared: OpenGL and Vulkan render on CUDA device 0, and CUDA computes on another
 * device that can access its memory.
 */
#ifndef GR_TESTS_PEER_SHARED_H
#define GR_TESTS_PEER_SHARED_H

#include "share_ring.h"
#include "tests/support/shared_buffer.h"

/* The devices of the cases: each has its primary context, retained throughout, and a stream. */
#define MOST_DEVICES 3
struct peer_devices {
    int count;
    CUcontext context[MOST_DEVICES];
    CUstream stream[MOST_DEVICES];
};
extern struct peer_devices devices;

/* Adds a case with these devices to the suite, with Vulkan's fixture or OpenGL's alone. */
TCase *add_peer_case(Suite *suite, const char *name);
TCase *add_peer_vulkan_case(Suite *suite, const char *name);

/* Skipped if OpenGL and the fixture's CUDA context cannot share storage. */
#define PEER_TEST(...) TEST_UNLESS(shared_missing(), __VA_ARGS__)

/* A buffer shared between OpenGL and the current CUDA context. */
gr_resource *must_share(size_t size);

/* How many frames a case transfers: GR_TEST_FRAMES, 300 by default. */
unsigned long frames_wanted(void);

#endif
