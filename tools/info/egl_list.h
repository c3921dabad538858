/* SPDX-License-Identifier: Apache-2.0 */
/* EGL's devices in its own order, and an OpenGL context on one of them. */
#ifndef INFO_EGL_LIST_H
#define INFO_EGL_LIST_H

#include <epoxy/egl.h>

enum { EGL_LIST_MOST = 32 };

/* How many there are; 0, too, where EGL cannot list them. libEGL has to be there. */
int egl_list(EGLDeviceEXT devices[EGL_LIST_MOST]);

/* Makes OpenGL of the device current, until the process ends. NULL, or what is missing. */
const char *egl_make_current(EGLDeviceEXT device);

#endif
