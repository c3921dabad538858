/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Replaces the window in glfw_headless.c: an EGL pbuffer on the first EGL device.
 */
#ifndef GR_TESTS_PBUFFER_H
#define GR_TESTS_PBUFFER_H

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <stdio.h>
#include <stdlib.h>

enum { PBUFFER_MOST_DEVICES = 16 };

static _Noreturn void pbuffer_fail(const char *what)
{
    fprintf(stderr, "pbuffer: %s (EGL error 0x%x)\n", what, (unsigned)eglGetError());
    exit(1);
}

static EGLDisplay pbuffer_display(void)
{
    PFNEGLQUERYDEVICESEXTPROC query =
        (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
    PFNEGLGETPLATFORMDISPLAYEXTPROC get =
        (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    EGLDeviceEXT devices[PBUFFER_MOST_DEVICES];
    EGLint count = 0;
    if (!query || !get || !query(PBUFFER_MOST_DEVICES, devices, &count))
        pbuffer_fail("EGL lists no devices");
    for (EGLint i = 0; i < count; i++) {
        EGLDisplay display = get(EGL_PLATFORM_DEVICE_EXT, devices[i], NULL);
        if (display != EGL_NO_DISPLAY && eglInitialize(display, NULL, NULL))
            return display;
    }
    pbuffer_fail("no EGL device can be opened");
}

/* clang-format off */
static const EGLint pbuffer_wanted[] = {
    EGL_SURFACE_TYPE, EGL_PBUFFER_BIT,
    EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT,
    EGL_RED_SIZE, 8, EGL_GREEN_SIZE, 8, EGL_BLUE_SIZE, 8, EGL_ALPHA_SIZE, 8,
    EGL_DEPTH_SIZE, 24,
    EGL_NONE,
};
/* clang-format on */

/*
 * Creates a context with these attributes (NULL: the defaults), and makes it current with a
 * pbuffer.
 */
static inline void pbuffer_create(int width, int height, const EGLint *attributes)
{
    const EGLint size[] = {EGL_WIDTH, width, EGL_HEIGHT, height, EGL_NONE};
    EGLDisplay display = pbuffer_display();
    EGLConfig config;
    EGLint count = 0;
    if (!eglBindAPI(EGL_OPENGL_API) ||
        !eglChooseConfig(display, pbuffer_wanted, &config, 1, &count) || count == 0)
        pbuffer_fail("EGL has no configuration for OpenGL in a pbuffer");
    EGLSurface surface = eglCreatePbufferSurface(display, config, size);
    EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, attributes);
    if (!eglMakeCurrent(display, surface, surface, context))
        pbuffer_fail("EGL creates no context");
}

static inline void pbuffer_swap(void)
{
    eglSwapBuffers(eglGetCurrentDisplay(), eglGetCurrentSurface(EGL_DRAW));
}

#endif
