/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenGL without a window: a context on the GPU that a CUDA device is, or on the CPU.
 *
 *     gr_egl *egl = gr_egl_create(NULL);        (on CUDA device 0; it is current from here on)
 *     if (!egl)
 *         gr_error_print(stderr, "OpenGL without a window");
 *     ... draw into a framebuffer object, share it with CUDA (gl.h), read it back ...
 *     gr_egl_free(egl);
 *
 * For servers, batch jobs and tests. A program with a window has its context from its toolkit and
 * needs nothing of this. EGL's handles are void pointers here, so no EGL header is needed.
 */
#ifndef GR_EGL_H
#define GR_EGL_H

#include <grinterop/gr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An OpenGL context without a window, with the display that it lives on. */
typedef struct gr_egl gr_egl;

/* Which context gr_egl_create() makes. */
typedef struct gr_egl_options {
    size_t struct_size;

    /* The CUDA device to draw on, by the number that CUDA counts by. 0: the first one. */
    int cuda_device;

    /* The OpenGL version, for example 4 and 5. 0 and 0: the newest that there is. */
    int major, minor;

    /* Whether it has what core profiles left out, such as glBegin. false: a core profile. */
    bool compatibility;

    /* Whether the driver reports mistakes by glDebugMessageCallback. false: it need not. */
    bool debug;

    /* A context on the same CUDA device, whose objects the new one shares. NULL: none. */
    const gr_egl *share;
} gr_egl_options;

/*
 * Makes an OpenGL context without a window, on a CUDA device, and makes it current here.
 *
 * The device is found by what EGL's devices say of themselves (EGL_NV_device_cuda), never by the
 * order in which they are listed. With the software CUDA driver it is Mesa's OpenGL on the CPU.
 * What was current on this thread is not any more, and EGL's current API is OpenGL. NULL as
 * `options` is all defaults.
 *
 * Owner    the caller frees it with gr_egl_free(). The EGL display, which the process may share,
 *          is never terminated
 * Thread   any; the context is current on this one only
 *
 * Errors, after which what was current is current:
 *     GR_ERR_INVALID_VALUE  there is no such CUDA device, or `share` is on another one
 *     GR_ERR_GL             EGL, or a context of that version, is not to be had; the message lists
 *                           the EGL devices that were found, and what is missing
 *     GR_ERR_CUDA           CUDA does not count its devices
 *     GR_ERR_NO_DRIVER      there is no CUDA driver
 *
 * Wraps eglQueryDevicesEXT, eglGetPlatformDisplayEXT, eglCreateContext.
 */
GR_API gr_egl *gr_egl_create(const gr_egl_options *options);

/*
 * Makes the context current on the calling thread; NULL leaves none current.
 *
 * Errors:
 *     GR_ERR_GL  EGL refused: the context is current on another thread, for example
 *
 * Wraps eglMakeCurrent.
 */
GR_API gr_status gr_egl_make_current(const gr_egl *egl);

/*
 * Ends the context. If it is current on the calling thread, none is afterwards.
 *
 * Close the resources that were made in it first: without it their registrations cannot be ended.
 */
GR_API void gr_egl_free(gr_egl *egl);

/*
 * EGL's own handles, for calls that are not here: an EGLDisplay, EGLConfig and EGLContext.
 *
 * Valid    until gr_egl_free(); NULL for NULL
 */
GR_API void *gr_egl_display(const gr_egl *egl);
GR_API void *gr_egl_config(const gr_egl *egl);
GR_API void *gr_egl_context(const gr_egl *egl);

/*
 * Writes one line: OpenGL's version, who draws, and by which platform or device it was found.
 *
 * At most `size` bytes are written, with the terminating zero. Returns the length of the whole
 * line, like snprintf.
 */
GR_API int gr_egl_describe(const gr_egl *egl, char *text, size_t size);

#if defined(__GNUC__)
/* For GR_AUTO(gr_egl). */
GR_API void gr_egl_at_scope_end(gr_egl **egl);
#endif

#ifdef __cplusplus
}
#endif
#endif
