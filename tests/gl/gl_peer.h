/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the files of test_gl_peer.c. The tests load the CUDA driver that fails on demand. On
 * the software driver, semaphores between OpenGL and CUDA are simulated (gl_shared_pretend.h).
 */
#ifndef GR_TESTS_GL_PEER_H
#define GR_TESTS_GL_PEER_H

#include "gl_peer_device.h"
#include "gl_shared.h"

#define SIZE ((size_t)4096)

/* Buffers of this size do not share a block of memory with others. */
#define LARGE ((size_t)2 << 20)

#define COPY   "cuMemcpyDtoDAsync" /* between the two GPUs */
#define WAIT   "cuWaitExternalSemaphoresAsync"
#define SIGNAL "cuSignalExternalSemaphoresAsync"
#define RECORD "cuEventRecord"

/*
 * Cases in which the context and streams of the fixture belong to another device than the one that
 * draws: with semaphores between OpenGL and CUDA, and with host waits in place of them.
 */
TCase *add_peer_case(Suite *suite, const char *name);
TCase *add_waiting_peer_case(Suite *suite, const char *name);

/* A case in which one device draws and computes, with semaphores. */
TCase *add_near_case(Suite *suite, const char *name);

#define TWO_GPUS   add_peer_case, add_waiting_peer_case
#define EVERY_PEER TWO_GPUS, add_near_case

/* Whether the case has two devices, and whether it has semaphores. */
bool case_crosses(void);
bool case_signals(void);

/* A test is skipped if its case lacks the devices. */
#define PEER_TEST(...) TEST_UNLESS(tested->missing(), __VA_ARGS__)

/* must_peer() creates a resource with these options: GR_TRANSPORT_PEER. */
extern const gr_gl_options by_peer;
gr_resource *must_peer(GLuint name, unsigned flags);

#endif
