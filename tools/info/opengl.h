/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the OpenGL finders. */
#ifndef INFO_OPENGL_H
#define INFO_OPENGL_H

#include <epoxy/egl.h>

#include <grinterop/gl.h>

enum { EGL_MOST_DEVICES = 32, TRANSPORTS = 4 };

/* Lists the EGL devices in EGL's order and returns their number; 0 also if EGL cannot list them. */
int egl_list(EGLDeviceEXT devices[EGL_MOST_DEVICES]);

/*
 * Make an OpenGL context current until the process ends: on the EGL device with that number, which
 * grinterop's egl.h supports only for CUDA devices; or on the X display in DISPLAY, without a
 * window. Return NULL, or what is missing (contexts.c).
 */
const char *egl_make_current(int number);
const char *glx_make_current(void);

struct transport {
    gr_transport transport;
    const char *name;
    const char *brief; /* how a frame is transferred */
    const char *words;
};
extern const struct transport transports[TRANSPORTS];

#endif
