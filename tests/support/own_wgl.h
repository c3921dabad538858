/* SPDX-License-Identifier: Apache-2.0 */
/* OpenGL by WGL, as an application has it: in a window that is never shown. */
#ifndef GR_TESTS_OWN_WGL_H
#define GR_TESTS_OWN_WGL_H

/* An HWND, its HDC and an HGLRC; zeros are none. */
struct own_wgl {
    void *window, *dc, *context;
};

/*
 * An OpenGL 4.5 core context, which is current from here on. NULL, or why there is none; then
 * nothing is left to be ended, and no context is current.
 */
const char *own_wgl_open(struct own_wgl *own);

/* Makes it current on this thread, or for NULL none. */
void own_wgl_make_current(const struct own_wgl *own);

/* Also while another context is current, which stays so. */
void own_wgl_close(struct own_wgl *own);

#endif
