/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenGL where grinterop makes no context, since CUDA does not see who draws: on the processor
 * beside a GPU, by EGL's software device, which Mesa has, or on a GPU that is hidden from CUDA.
 */
#ifndef GR_TESTS_OWN_EGL_H
#define GR_TESTS_OWN_EGL_H

/* An EGLDisplay and an EGLContext; zeros are none. */
struct own_egl {
    void *display, *context;
};

/*
 * An OpenGL 4.5 on an EGLDisplay, which is current from here on. NULL, or why there is none; then
 * nothing is left to be ended, and what was current may be no longer.
 */
const char *own_egl_open(struct own_egl *own, void *display);
const char *own_egl_open_software(struct own_egl *own);

/* Also while another context is current, which stays so. */
void own_egl_close(struct own_egl *own);

#endif
