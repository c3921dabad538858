/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Cases in which CUDA computes on another device than the one that draws. */
#ifndef GR_TESTS_GL_PEER_DEVICE_H
#define GR_TESTS_GL_PEER_DEVICE_H

#include <cuda.h>

#include "gl_transport.h"

/* The device that draws, and its context. The fixture uses another device. */
struct drawing_device {
    CUdevice device;
    CUcontext context;
};
extern struct drawing_device drawing;

/*
 * Moves the context and streams of the fixture to another device during a case. `use` is called
 * once per program on that device.
 */
TCase *with_peer_device(TCase *tcase, void (*use)(void));

/* The reason why the case has no two devices that can access each other's memory, or NULL. */
const char *peer_missing(void);

#endif
