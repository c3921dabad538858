/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/info/egl_context.h"

#include <stddef.h>

/* OpenGL 3.3, or what is newer and has all of it, is what grinterop's egl.h gives at least. */
static EGLContext create(EGLDisplay display, EGLConfig config)
{
    static const EGLint minors[][2] = {{4, 6}, {4, 5}, {3, 3}};
    EGLContext context = EGL_NO_CONTEXT;
    for (size_t i = 0; i < 3 && context == EGL_NO_CONTEXT; i++) {
        const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, minors[i][0],
                                  EGL_CONTEXT_MINOR_VERSION, minors[i][1], EGL_NONE};
        context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
    }
    return context;
}

const char *egl_make_current(EGLDeviceEXT device)
{
    static const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                                    EGL_OPENGL_BIT, EGL_NONE};
    EGLConfig config;
    EGLint count = 0;
    EGLDisplay display = eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, device, NULL);
    if (display == EGL_NO_DISPLAY || !eglInitialize(display, NULL, NULL))
        return "its display cannot be initialised";
    if (!eglBindAPI(EGL_OPENGL_API) || !eglChooseConfig(display, wanted, &config, 1, &count) ||
        count == 0)
        return "it has no configuration for desktop OpenGL";
    EGLContext context = create(display, config);
    if (context == EGL_NO_CONTEXT)
        return "it gives no OpenGL of 3.3 or newer";
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
        return "its context cannot be made current";
    return NULL;
}
