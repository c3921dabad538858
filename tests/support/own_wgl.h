/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Creates an OpenGL context through WGL as an application does: in a window that is never shown. */
#ifndef GR_TESTS_OWN_WGL_H
#define GR_TESTS_OWN_WGL_H

/* An HWND, its HDC and an HGLRC; all zero if not open. */
struct own_wgl {
    void *window, *dc, *context;
};

/*
 * Creates an OpenGL 4.5 core context and makes it current. Returns NULL on success, else the
 * reason; then there is nothing to close, and no context is current.
 */
const char *own_wgl_open(struct own_wgl *own);

/* Makes it current on this thread; NULL makes no context current. */
void own_wgl_make_current(const struct own_wgl *own);

/* May be called while another context is current, which stays current. */
void own_wgl_close(struct own_wgl *own);

#endif
