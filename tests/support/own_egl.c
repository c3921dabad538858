/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "own_egl.h"

#include <stddef.h>

#include <epoxy/egl.h>

enum { MOST_DEVICES = 32 };

/* Finds the EGL device that renders on the CPU. */
static EGLDeviceEXT find_device(void)
{
    EGLDeviceEXT devices[MOST_DEVICES];
    EGLint count = 0;
    if (!epoxy_has_egl() || !epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_device") ||
        !eglQueryDevicesEXT(MOST_DEVICES, devices, &count))
        return EGL_NO_DEVICE_EXT;
    for (EGLint i = 0; i < count; i++) {
        const char *extensions = eglQueryDeviceStringEXT(devices[i], EGL_EXTENSIONS);
        if (extensions && epoxy_extension_in_string(extensions, "EGL_MESA_device_software"))
            return devices[i];
    }
    return EGL_NO_DEVICE_EXT;
}

static const char *make_context(struct own_egl *own)
{
    static const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                                    EGL_OPENGL_BIT, EGL_NONE};
    static const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 5,
                                     EGL_NONE};
    EGLConfig config;
    EGLint count = 0;
    if (own->display == EGL_NO_DISPLAY || !eglInitialize(own->display, NULL, NULL))
        return "the EGL display can't be initialised";
    if (!eglBindAPI(EGL_OPENGL_API) || !eglChooseConfig(own->display, wanted, &config, 1, &count) ||
        count == 0)
        return "the EGL display has no configuration for OpenGL";
    own->context = eglCreateContext(own->display, config, EGL_NO_CONTEXT, version);
    if (own->context == EGL_NO_CONTEXT ||
        !eglMakeCurrent(own->display, EGL_NO_SURFACE, EGL_NO_SURFACE, own->context))
        return "the EGL display provides no OpenGL 4.5";
    return NULL;
}

const char *own_egl_open(struct own_egl *own, void *display)
{
    *own = (struct own_egl){.display = display};
    const char *reason = make_context(own);
    if (reason)
        own_egl_close(own);
    return reason;
}

const char *own_egl_open_software(struct own_egl *own)
{
    *own = (struct own_egl){0};
    EGLDeviceEXT device = find_device();
    if (device == EGL_NO_DEVICE_EXT)
        return "no OpenGL on the CPU: EGL has no device with EGL_MESA_device_software. Install "
               "Mesa (on Debian libegl-mesa0, libgl1-mesa-dri)";
    return own_egl_open(own, eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, device, NULL));
}

void own_egl_close(struct own_egl *own)
{
    if (!own->context)
        return;
    if (eglGetCurrentContext() == own->context)
        eglMakeCurrent(own->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(own->display, own->context);
    own->context = NULL;
}
