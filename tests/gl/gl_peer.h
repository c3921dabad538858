/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the files of test_gl_peer.c. In its cases the fixture's context and streams belong to
 * another device than the one that draws. The driver is the one that fails on demand.
 */
#ifndef GR_TESTS_GL_PEER_H
#define GR_TESTS_GL_PEER_H

#include <cuda.h>

#include "gl_transport.h"

#define SIZE ((size_t)4096)

#define MAP        "cuGraphicsMapResources"
#define UNMAP      "cuGraphicsUnmapResources"
#define COPY       "cuMemcpyPeerAsync"
#define REGISTER   "cuGraphicsGLRegisterBuffer"
#define UNREGISTER "cuGraphicsUnregisterResource"

/* The device that draws, and its context, while the fixture uses another device. */
struct drawing_device {
    CUdevice device;
    CUcontext context;
};
extern struct drawing_device drawing;

/* A case is skipped without two devices that can access each other. */
#define PEER_TEST(...) TEST_UNLESS(peer_missing(), __VA_ARGS__)
const char *peer_missing(void);

TCase *add_peer_case(Suite *suite, const char *name);

/* By GR_TRANSPORT_PEER. */
extern const gr_gl_options by_peer;
gr_resource *must_peer(GLuint name, unsigned flags);

#endif
