/* SPDX-License-Identifier: Apache-2.0 */
#include "software_gl.h"

#include <stdbool.h>
#include <stddef.h>

#include <epoxy/egl.h>

enum { MOST_DEVICES = 32 };

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

static const char *make_context(struct software_gl *gl)
{
    static const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                                    EGL_OPENGL_BIT, EGL_NONE};
    static const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 5,
                                     EGL_NONE};
    EGLConfig config;
    EGLint count = 0;
    if (gl->display == EGL_NO_DISPLAY || !eglInitialize(gl->display, NULL, NULL))
        return "EGL's software device can't be initialised";
    if (!eglBindAPI(EGL_OPENGL_API) || !eglChooseConfig(gl->display, wanted, &config, 1, &count) ||
        count == 0)
        return "EGL's software device has no configuration for OpenGL";
    gl->context = eglCreateContext(gl->display, config, EGL_NO_CONTEXT, version);
    if (gl->context == EGL_NO_CONTEXT ||
        !eglMakeCurrent(gl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, gl->context))
        return "EGL's software device gives no OpenGL 4.5";
    return NULL;
}

const char *software_gl_open(struct software_gl *gl)
{
    *gl = (struct software_gl){0};
    EGLDeviceEXT device = find_device();
    if (device == EGL_NO_DEVICE_EXT)
        return "no OpenGL on the processor: EGL has no device with EGL_MESA_device_software. "
               "Install Mesa (on Debian libegl-mesa0, libgl1-mesa-dri)";
    gl->display = eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, device, NULL);
    const char *reason = make_context(gl);
    if (reason)
        software_gl_close(gl);
    return reason;
}

void software_gl_close(struct software_gl *gl)
{
    if (!gl->context)
        return;
    if (eglGetCurrentContext() == gl->context)
        eglMakeCurrent(gl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(gl->display, gl->context);
    gl->context = NULL;
}
