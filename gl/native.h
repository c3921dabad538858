/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The window system's interface to OpenGL: which context is current, and where OpenGL's functions
 * are. EGL and GLX have it on Linux (native_posix.c), WGL on Windows (native_windows.c).
 */
#ifndef GR_GL_NATIVE_H
#define GR_GL_NATIVE_H

#include <stdbool.h>

/* A context as its interface names it. `handle` is NULL where none is current. */
struct gl_native {
    const char *interface; /* "EGL", "GLX" or "WGL" */
    void *handle;          /* EGLContext, GLXContext or HGLRC */
};

/*
 * Whether to ask who is current before each call of OpenGL: WGL answers from the thread's own
 * memory, and its functions may crash without a context. EGL's question costs a system call.
 */
#ifdef _WIN32
#define GL_NATIVE_ASKS_FIRST true
#else
#define GL_NATIVE_ASKS_FIRST false
#endif

/*
 * Looks without loading anything and without epoxy, which ends the process when no context is
 * current. False where none is.
 */
bool gl_native_current(struct gl_native *native);

/* The EGLDisplay of the current context, if it is EGL's; else NULL. */
void *gl_native_display(const struct gl_native *native);

/* Whether the interface says that the context was destroyed. GLX and WGL cannot be asked. */
bool gl_native_is_gone(const struct gl_native *native, void *display);

/* A function of OpenGL by name, for what epoxy does not know; NULL where there is none. */
void *gl_proc_address(const struct gl_native *native, const char *name);

/* ---- Words for messages: what an application does about its context -------------------------- */

#ifdef _WIN32
#define GL_NATIVE_MAKE "of a window that need not be shown, by wglMakeCurrent"
#define GL_NATIVE_USE_NVIDIA                                                                       \
    "Use NVIDIA's driver, and a pixel format of its own (without PFD_GENERIC_FORMAT)."
#define GL_NATIVE_PREFER_NVIDIA                                                                    \
    "choose it for this program in Windows's settings of graphics, or let the .exe export "        \
    "NvOptimusEnablement = 1."
#define GL_NATIVE_CHOICE "by Windows's settings of graphics"
#else
#define GL_NATIVE_MAKE "gr_egl_create() of grinterop/egl.h makes one without a window"
#define GL_NATIVE_USE_NVIDIA                                                                       \
    "Use NVIDIA's (package libnvidia-gl): __GLX_VENDOR_LIBRARY_NAME=nvidia, for EGL "              \
    "10_nvidia.json, in a container NVIDIA_DRIVER_CAPABILITIES with graphics."
#define GL_NATIVE_PREFER_NVIDIA                                                                    \
    "__NV_PRIME_RENDER_OFFLOAD=1 __GLX_VENDOR_LIBRARY_NAME=nvidia, or gr_egl_create()."
#define GL_NATIVE_CHOICE "gr_egl_create()"
#endif

#endif
