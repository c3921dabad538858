/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Creates OpenGL contexts that grinterop would not create, because CUDA cannot see their device:
 * the CPU of a machine with a GPU, through the software device of Mesa in EGL, or a GPU that is
 * hidden from CUDA.
 */
#ifndef GR_TESTS_OWN_EGL_H
#define GR_TESTS_OWN_EGL_H

/* An EGLDisplay and an EGLContext; both NULL while the context is not open. */
struct own_egl {
    void *display, *context;
};

/*
 * Creates an OpenGL 4.5 context on an EGLDisplay and makes it current. Returns NULL on success, or
 * the reason of the failure. After a failure there is nothing to close, and the previous context
 * may no longer be current.
 */
const char *own_egl_open(struct own_egl *own, void *display);
const char *own_egl_open_software(struct own_egl *own);

/* Destroys the context. If another context is current, that one stays current. */
void own_egl_close(struct own_egl *own);

#endif
