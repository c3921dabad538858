/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenGL on the processor, also beside a GPU's: EGL's software device, which Mesa has. grinterop's
 * own contexts are on CUDA's devices only.
 */
#ifndef GR_TESTS_SOFTWARE_GL_H
#define GR_TESTS_SOFTWARE_GL_H

/* An EGLDisplay and an EGLContext; zeros are none. */
struct software_gl {
    void *display, *context;
};

/*
 * An OpenGL 4.5, which is current from here on. NULL, or why there is none; then nothing is left to
 * be ended, and what was current may be no longer.
 */
const char *software_gl_open(struct software_gl *gl);

/* Also while another context is current, which stays so. */
void software_gl_close(struct software_gl *gl);

#endif
