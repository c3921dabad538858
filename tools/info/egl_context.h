/* SPDX-License-Identifier: Apache-2.0 */
/* An OpenGL context on any device of EGL's, of which grinterop's egl.h takes CUDA's alone. */
#ifndef INFO_EGL_CONTEXT_H
#define INFO_EGL_CONTEXT_H

#include <epoxy/egl.h>

/* Makes OpenGL of the device current, until the process ends. NULL, or what is missing. */
const char *egl_make_current(EGLDeviceEXT device);

#endif
