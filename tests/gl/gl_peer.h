/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the files of test_gl_peer.c. In its cases the context and streams of the fixture belong
 * to a different device than the one that draws. The tests load the CUDA driver that fails on
 * demand.
 */
#ifndef GR_TESTS_GL_PEER_H
#define GR_TESTS_GL_PEER_H

#include "gl_peer_device.h"

#define SIZE ((size_t)4096)

#define MAP        "cuGraphicsMapResources"
#define UNMAP      "cuGraphicsUnmapResources"
#define COPY       "cuMemcpyPeerAsync"
#define REGISTER   "cuGraphicsGLRegisterBuffer"
#define UNREGISTER "cuGraphicsUnregisterResource"

/* A test is skipped if there are no two devices that can access each other's memory. */
#define PEER_TEST(...) TEST_UNLESS(peer_missing(), __VA_ARGS__)

TCase *add_peer_case(Suite *suite, const char *name);

/* must_peer() creates a resource with these options: GR_TRANSPORT_PEER. */
extern const gr_gl_options by_peer;
gr_resource *must_peer(GLuint name, unsigned flags);

#endif
