/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For test_peer_shared: OpenGL and Vulkan draw on CUDA device 0, CUDA computes on another one that
 * reaches its memory.
 */
#ifndef GR_TESTS_PEER_SHARED_H
#define GR_TESTS_PEER_SHARED_H

#include "share_ring.h"
#include "tests/support/shared_buffer.h"

/* The devices that cases use: each has its primary context, which stays, and a stream. */
#define MOST_DEVICES 3
struct peer_devices {
    int count;
    CUcontext context[MOST_DEVICES];
    CUstream stream[MOST_DEVICES];
};
extern struct peer_devices devices;

/* A case of the suite with them, with Vulkan's fixture or with OpenGL's alone. */
TCase *add_peer_case(Suite *suite, const char *name);
TCase *add_peer_vulkan_case(Suite *suite, const char *name);

/* Skipped where OpenGL and the fixture's CUDA context cannot share storage. */
#define PEER_TEST(...) TEST_UNLESS(shared_missing(), __VA_ARGS__)

/* A shared buffer of OpenGL's and the current CUDA context. */
gr_resource *must_share(size_t size);

/* How many frames a case passes on: GR_TEST_FRAMES, 300 by default. */
unsigned long frames_wanted(void);

/* Children of the rings' cases: on the device that GR_TEST_CUDA_DEVICE says. */
int child_writes(void);
int child_reads(void);

#endif
