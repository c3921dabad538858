/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "gl/context/egl_current.h"

struct egl_current egl_current_save(void)
{
    return (struct egl_current){.api = eglQueryAPI(),
                                .display = eglGetCurrentDisplay(),
                                .draw = eglGetCurrentSurface(EGL_DRAW),
                                .read = eglGetCurrentSurface(EGL_READ),
                                .context = eglGetCurrentContext()};
}

bool egl_current_restore(const struct egl_current *saved)
{
    eglBindAPI(saved->api);
    if (saved->context != EGL_NO_CONTEXT)
        return eglMakeCurrent(saved->display, saved->draw, saved->read, saved->context);
    return eglGetCurrentDisplay() == EGL_NO_DISPLAY ||
           eglMakeCurrent(eglGetCurrentDisplay(), EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
}
