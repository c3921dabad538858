/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenGL on the processor, beside a GPU's CUDA: EGL's software device, which Mesa has. grinterop's
 * own contexts are on CUDA's devices only.
 */
#include <stdlib.h>

#include <epoxy/egl.h>

#include "tests/bench/frames/frames.h"

enum { MOST_DEVICES = 32 };

struct frames_software_gl {
    EGLDisplay display;
    EGLContext context;
};

static EGLDeviceEXT find_device(void)
{
    EGLDeviceEXT devices[MOST_DEVICES];
    EGLint count = 0;
    if (!epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_device") ||
        !eglQueryDevicesEXT(MOST_DEVICES, devices, &count))
        return EGL_NO_DEVICE_EXT;
    for (EGLint i = 0; i < count; i++) {
        const char *extensions = eglQueryDeviceStringEXT(devices[i], EGL_EXTENSIONS);
        if (extensions && epoxy_extension_in_string(extensions, "EGL_MESA_device_software"))
            return devices[i];
    }
    return EGL_NO_DEVICE_EXT;
}

static bool failed(const char *call)
{
    frames_say("OpenGL on the processor: %s failed (EGL error 0x%x)", call, eglGetError());
    return false;
}

static bool open_context(struct frames_software_gl *gl, EGLDeviceEXT device)
{
    static const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                                    EGL_OPENGL_BIT, EGL_NONE};
    static const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 5,
                                     EGL_NONE};
    EGLConfig config;
    EGLint count = 0;
    gl->display = eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, device, NULL);
    if (gl->display == EGL_NO_DISPLAY || !eglInitialize(gl->display, NULL, NULL))
        return failed("eglInitialize");
    if (!eglBindAPI(EGL_OPENGL_API) || !eglChooseConfig(gl->display, wanted, &config, 1, &count) ||
        count == 0)
        return failed("eglChooseConfig");
    gl->context = eglCreateContext(gl->display, config, EGL_NO_CONTEXT, version);
    if (gl->context == EGL_NO_CONTEXT)
        return failed("eglCreateContext for OpenGL 4.5");
    return eglMakeCurrent(gl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, gl->context) ||
           failed("eglMakeCurrent");
}

bool frames_software_gl_open(struct frames *f)
{
    EGLDeviceEXT device = find_device();
    if (device == EGL_NO_DEVICE_EXT) {
        frames_say("OpenGL on the processor: EGL has no device with EGL_MESA_device_software. "
                   "Install Mesa (on Debian libegl-mesa0 and libgl1-mesa-dri)");
        return false;
    }
    f->software_gl = calloc(1, sizeof(*f->software_gl));
    if (!f->software_gl) {
        frames_say("out of memory");
        return false;
    }
    return open_context(f->software_gl, device);
}

void frames_software_gl_close(struct frames *f)
{
    struct frames_software_gl *gl = f->software_gl;
    if (!gl)
        return;
    if (gl->context != EGL_NO_CONTEXT) {
        eglMakeCurrent(gl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        eglDestroyContext(gl->display, gl->context);
    }
    free(gl);
    f->software_gl = NULL;
}
