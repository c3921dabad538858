/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Creates an OpenGL context through WGL as an application does, in a window that is shown only by
 * own_wgl_show().
 */
#ifndef GR_TESTS_OWN_WGL_H
#define GR_TESTS_OWN_WGL_H

/* An HWND, its HDC and an HGLRC; all NULL while the context is not open. */
struct own_wgl {
    void *window, *dc, *context;
};

/*
 * Creates an OpenGL 4.5 core context and makes it current. Returns NULL on success, or the reason
 * of the failure. After a failure there is nothing to close, and no context is current.
 */
const char *own_wgl_open(struct own_wgl *own);

/* Makes the context current on this thread. With NULL no context is current. */
void own_wgl_make_current(const struct own_wgl *own);

/* Destroys the context. If another context is current, that one stays current. */
void own_wgl_close(struct own_wgl *own);

/* Shows the window on the screen, and returns the size of its area for OpenGL. */
void own_wgl_show(const struct own_wgl *own, int *width, int *height);

/* Shows what was drawn to the window, and gives the system 50 ms to do so. */
void own_wgl_swap(const struct own_wgl *own);

/* The color 0xrrggbb that the screen has at a place of the window, counted from its top. */
unsigned own_wgl_color(const struct own_wgl *own, int x, int y);

#endif
