/* SPDX-License-Identifier: Apache-2.0 */
/* What the finders of OpenGL share. */
#ifndef INFO_OPENGL_H
#define INFO_OPENGL_H

#include <epoxy/egl.h>

#include <grinterop/gl.h>

enum { EGL_MOST_DEVICES = 32, TRANSPORTS = 4 };

/* The EGL devices in the order of EGL: how many. 0, too, where EGL cannot list them. */
int egl_list(EGLDeviceEXT devices[EGL_MOST_DEVICES]);

/*
 * Make current until the process ends: OpenGL on the EGL device with that number, of which
 * grinterop's egl.h takes those of CUDA only; and OpenGL of the X display that DISPLAY names,
 * without a window. NULL, or what is missing (contexts.c).
 */
const char *egl_make_current(int number);
const char *glx_make_current(void);

struct transport {
    gr_transport transport;
    const char *name;
    const char *brief; /* by which a frame goes */
    const char *words;
};
extern const struct transport transports[TRANSPORTS];

#endif
