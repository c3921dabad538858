/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenGL without a window: a context on the GPU that a given CUDA device is, or on the CPU.
 * Nothing of EGL is needed to use this header; handles are passed as void pointers.
 */
#ifndef GR_EGL_H
#define GR_EGL_H

#include <grinterop/gr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A headless OpenGL context with the display that it lives on. */
typedef struct gr_egl gr_egl;

/* Options of gr_egl_create(). Zero is the good default for every field. */
typedef struct gr_egl_options {
    int cuda_device;     /* ordinal of the CUDA device to draw on, as CUDA counts; default 0 */
    int major, minor;    /* the OpenGL version wanted; default 0.0: the newest there is */
    bool compatibility;  /* a compatibility profile rather than a core profile */
    bool debug;          /* a debug context */
    const gr_egl *share; /* a context whose objects it shares; same CUDA device */
} gr_egl_options;

/*
 * Makes an OpenGL context without a window and makes it current on the calling thread, replacing
 * what was current there. With an NVIDIA driver it is on the EGL device that says (by
 * EGL_NV_device_cuda) that it is the CUDA device asked for, whatever order EGL lists them in; with
 * the software CUDA driver it is on Mesa's surfaceless platform, else on any EGL device.
 *
 * EGL's current API is OpenGL afterwards. `options` may be NULL and need only live until the call
 * returns. The context is the caller's, freed with gr_egl_free(); the EGL display is never
 * terminated, since the process may share it.
 * Errors: GR_ERR_NO_DRIVER, GR_ERR_INVALID_VALUE (no such CUDA device), GR_ERR_GL; the message
 * lists the EGL devices that were found, and what is missing.
 * Wraps eglQueryDevicesEXT, eglGetPlatformDisplayEXT, eglCreateContext.
 */
GR_API gr_egl *gr_egl_create(const gr_egl_options *options);

/* Makes the context current on the calling thread; NULL leaves none current. GR_ERR_GL. */
GR_API gr_status gr_egl_make_current(const gr_egl *egl);

/*
 * Destroys the context; if it is current on the calling thread, none is afterwards. Close the
 * resources made in it first: their registrations cannot be ended without it.
 */
GR_API void gr_egl_free(gr_egl *egl);

/* The EGLDisplay, EGLConfig and EGLContext, valid until gr_egl_free(). NULL for NULL. */
GR_API void *gr_egl_display(const gr_egl *egl);
GR_API void *gr_egl_config(const gr_egl *egl);
GR_API void *gr_egl_context(const gr_egl *egl);

/* One line: which platform and device were taken, OpenGL's version and renderer. Like snprintf. */
GR_API int gr_egl_describe(const gr_egl *egl, char *text, size_t size);

#if defined(__GNUC__)
GR_API void gr_egl_at_scope_end(gr_egl **egl); /* for GR_AUTO(gr_egl) */
#endif

#ifdef __cplusplus
}
#endif
#endif
