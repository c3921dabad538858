/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The interface between OpenGL and the window system: the current context and the addresses of
 * OpenGL functions. EGL and GLX on Linux (native_posix.c), WGL on Windows (native_windows.c).
 */
#ifndef GR_GL_CONTEXT_NATIVE_H
#define GR_GL_CONTEXT_NATIVE_H

#include <stdbool.h>

/* A context and its interface. `handle` is NULL if no context is current. */
struct gl_native {
    const char *interface; /* "EGL", "GLX" or "WGL" */
    void *handle;          /* EGLContext, GLXContext or HGLRC */
    void *display;         /* with EGL: the EGLDisplay, after gl_native_find_display() */
};

/*
 * Whether to query the current context before each OpenGL call. With WGL this is cheap, since the
 * context is in thread-local memory, and necessary, since OpenGL functions may crash without one.
 * With EGL the query costs a system call.
 */
#ifdef _WIN32
#define GL_NATIVE_ASKS_FIRST true
#else
#define GL_NATIVE_ASKS_FIRST false
#endif

/*
 * Finds the current context. False if there is none. Loads no library, and without a context does
 * not call epoxy, which would end the process.
 */
bool gl_native_current(struct gl_native *native);

/*
 * Whether epoxy can call OpenGL in this context, which is current. For OpenGL ES it needs
 * GL_NATIVE_ES, and ends the process without it.
 */
bool gl_native_is_callable(const struct gl_native *native);
bool gl_native_has_es(void);
#define GL_NATIVE_ES "libGLESv2.so.2"

/* With EGL, sets the display of the current context, which gl_native_is_gone() needs. */
void gl_native_find_display(struct gl_native *native);

/* Whether the interface reports the context as destroyed. GLX and WGL cannot report this. */
bool gl_native_is_gone(const struct gl_native *native);

/*
 * Returns the address of an OpenGL function that epoxy does not know; NULL if the function does not
 * exist.
 */
void *gl_proc_address(const struct gl_native *native, const char *name);

/* ---- Advice about the context, for messages -------------------------------------------------- */

#ifdef _WIN32
#define GL_NATIVE_MAKE "one of a window that may stay hidden, by wglMakeCurrent"
#define GL_NATIVE_USE_NVIDIA                                                                       \
    "Use the NVIDIA driver, and one of its pixel formats (without PFD_GENERIC_FORMAT)."
#define GL_NATIVE_PREFER_NVIDIA                                                                    \
    "choose it for this program in the Windows graphics settings, or let the .exe export "         \
    "NvOptimusEnablement = 1."
#define GL_NATIVE_CHOICE "by the Windows graphics settings"
#else
#define GL_NATIVE_MAKE "gr_egl_create() of grinterop/egl.h makes one without a window"
#define GL_NATIVE_USE_NVIDIA                                                                       \
    "Use the NVIDIA driver (package libnvidia-gl): __GLX_VENDOR_LIBRARY_NAME=nvidia, for EGL "     \
    "10_nvidia.json, in a container NVIDIA_DRIVER_CAPABILITIES with graphics."
#define GL_NATIVE_PREFER_NVIDIA                                                                    \
    "__NV_PRIME_RENDER_OFFLOAD=1 __GLX_VENDOR_LIBRARY_NAME=nvidia, or gr_egl_create()."
#define GL_NATIVE_CHOICE "gr_egl_create()"
#endif

#endif
