/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * For test_peer_shared: OpenGL and Vulkan render on CUDA device 0, and CUDA computes on another
 * device that can access the memory of device 0.
 */
#ifndef GR_TESTS_PEER_SHARED_H
#define GR_TESTS_PEER_SHARED_H

#include "share_ring.h"
#include "tests/support/shared_buffer.h"

/*
 * The devices that the cases use. Each has a stream and its primary context, which stays retained.
 */
#define MOST_DEVICES 3
struct peer_devices {
    int count;
    CUcontext context[MOST_DEVICES];
    CUstream stream[MOST_DEVICES];
};
extern struct peer_devices devices;

/*
 * Adds a case with these devices to the suite, with the fixture of Vulkan or only that of OpenGL.
 */
TCase *add_peer_case(Suite *suite, const char *name);
TCase *add_peer_vulkan_case(Suite *suite, const char *name);

/* A case that is skipped if OpenGL and the fixture's CUDA context cannot share storage. */
#define PEER_TEST(...) TEST_UNLESS(shared_missing(), __VA_ARGS__)

/* Creates a buffer that OpenGL and the current CUDA context share. */
gr_resource *must_share(size_t size);

/* The number of frames that a case transfers: GR_TEST_FRAMES, 300 by default. */
unsigned long frames_wanted(void);

#endif
