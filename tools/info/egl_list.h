/* SPDX-License-Identifier: Apache-2.0 */
/* EGL's devices in its own order. */
#ifndef INFO_EGL_LIST_H
#define INFO_EGL_LIST_H

#include <epoxy/egl.h>

enum { EGL_LIST_MOST = 32 };

/* How many there are; 0, too, where EGL cannot list them. libEGL has to be there. */
int egl_list(EGLDeviceEXT devices[EGL_LIST_MOST]);

#endif
