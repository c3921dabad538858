/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Declarations for the OpenGL finders of grinterop-info (find.h). */
#ifndef INFO_OPENGL_H
#define INFO_OPENGL_H

#include <epoxy/egl.h>

#include <grinterop/gl.h>

enum { EGL_MOST_DEVICES = 32, TRANSPORTS = 4 };

/*
 * Lists the EGL devices in the order of EGL. Returns their number, or 0 if EGL can't list devices.
 */
int egl_list(EGLDeviceEXT devices[EGL_MOST_DEVICES]);

/*
 * Make an OpenGL context current until the process ends (contexts.c). Return NULL, or what is
 * missing. egl_make_current() uses the EGL device with that number; grinterop's egl.h supports only
 * EGL devices that are CUDA devices. glx_make_current() uses the X display in DISPLAY, without a
 * window.
 */
const char *egl_make_current(int number);
const char *glx_make_current(void);

struct transport {
    gr_transport transport;
    const char *name;
    const char *words;
};
extern const struct transport transports[TRANSPORTS];

#endif
