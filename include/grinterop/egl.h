/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * OpenGL without a window: a context on the GPU of a CUDA device, or on the CPU.
 *
 *     gr_egl *egl = gr_egl_create(NULL);        (on CUDA device 0; the context is now current)
 *     if (!egl)
 *         gr_error_print(stderr, "OpenGL without a window");
 *     ... draw into a framebuffer object, share it with CUDA (gl.h), read it back ...
 *     gr_egl_free(egl);
 *
 * This header is for servers, batch jobs and tests. A program with a window uses the context of its
 * toolkit instead. EGL handles are void pointers here, so this header needs no EGL header.
 */
#ifndef GR_EGL_H
#define GR_EGL_H

#include <grinterop/gr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An OpenGL context without a window. Read only; its members are valid until gr_egl_free(). */
typedef struct gr_egl {
    void *display;           /* the EGLDisplay, for other EGL calls */
    void *config;            /* the EGLConfig */
    void *context;           /* the EGLContext */
    const char *description; /* one line: OpenGL version, renderer, EGL platform or device */
} gr_egl;

/* Options of gr_egl_create(). */
typedef struct gr_egl_options {
    size_t struct_size;

    /* The CUDA ordinal of the device to draw on. */
    int cuda_device;

    /* The OpenGL version, for example major 4, minor 5. If both are 0, the newest version. */
    int major, minor;

    /* A compatibility profile, with glBegin and the like. false: a core profile. */
    bool compatibility;

    /* A debug context, for glDebugMessageCallback. */
    bool debug;

    /*
     * The context to share objects with, which may be freed after the call. It must be on the same
     * CUDA device. NULL: none.
     */
    const gr_egl *share;

    /* OpenGL ES 3.1 or newer (gl.h). false: desktop OpenGL. */
    GR_NEW_FIELD(bool) es;
} gr_egl_options;

/*
 * Creates an OpenGL context without a window on a CUDA device, and makes it current.
 *
 * The EGL device is found by its CUDA ordinal (EGL_NV_device_cuda), not by its position in a list.
 * With the software CUDA driver the context uses Mesa on the CPU. The new context replaces the
 * current context of this thread, and eglBindAPI() selects its API. NULL as `options` means all
 * defaults.
 *
 * Owner    the caller frees it with gr_egl_free(). The EGL display is never terminated, because
 *          other code in the process may use it
 * Thread   any; the context is current on the calling thread only
 *
 * Errors, with the previous context still current:
 *     GR_ERR_INVALID_VALUE  there is no such CUDA device; `share` is on another CUDA device, or of
 *                           the other API; or `compatibility` and `es` are set
 *     GR_ERR_GL             EGL or a context of that version is not available; the message lists
 *                           the EGL devices and what is missing
 *     GR_ERR_CUDA           CUDA failed to count its devices
 *
 * Wraps eglQueryDevicesEXT, eglGetPlatformDisplayEXT, eglCreateContext.
 */
GR_API gr_egl *gr_egl_create(const gr_egl_options *options);

/*
 * Makes the context current on the calling thread; NULL leaves none current.
 *
 * Errors:
 *     GR_ERR_GL  EGL refused, for example because the context is current on another thread
 *
 * Wraps eglMakeCurrent.
 */
GR_API gr_status gr_egl_make_current(const gr_egl *egl);

/*
 * Destroys the context. If it is current on the calling thread, no context is current afterwards.
 *
 * First close the resources that were created in the context: without the context they cannot be
 * unregistered. Resources with `share_group` (gl.h) only need another context of the group.
 */
GR_API void gr_egl_free(gr_egl *egl);

GR_SCOPE_END(gr_egl, gr_egl_free)

#ifdef __cplusplus
}
#endif
#endif
