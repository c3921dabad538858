/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * OpenGL contexts by EGL and GLX. X11 and GLX are loaded at run time, since servers lack them.
 * Their types and constants are declared in this file, so that the build does not need their
 * headers.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "tools/info/opengl.h"

/* The versions to try. OpenGL 3.3 is the oldest that grinterop's egl.h creates. */
static const int versions[][2] = {{4, 6}, {4, 5}, {3, 3}};
enum { VERSIONS = sizeof(versions) / sizeof(versions[0]) };

/* ---- EGL ------------------------------------------------------------------------------------- */

static bool has(const char *extension)
{
    return epoxy_has_egl_extension(EGL_NO_DISPLAY, extension);
}

int egl_list(EGLDeviceEXT devices[EGL_MOST_DEVICES])
{
    EGLint count = 0;
    bool can = has("EGL_EXT_platform_device") &&
               (has("EGL_EXT_device_enumeration") || has("EGL_EXT_device_base"));
    if (!can || !eglQueryDevicesEXT(EGL_MOST_DEVICES, devices, &count))
        return 0;
    return count;
}

const char *egl_make_current(int number)
{
    static const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                                    EGL_OPENGL_BIT, EGL_NONE};
    EGLDeviceEXT devices[EGL_MOST_DEVICES];
    EGLConfig config;
    EGLint count = 0;
    if (!epoxy_has_egl() || number < 0 || number >= egl_list(devices))
        return "this EGL device no longer exists";
    EGLDisplay display = eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, devices[number], NULL);
    if (display == EGL_NO_DISPLAY || !eglInitialize(display, NULL, NULL))
        return "its display cannot be initialised";
    if (!eglBindAPI(EGL_OPENGL_API) || !eglChooseConfig(display, wanted, &config, 1, &count) ||
        count == 0)
        return "it has no configuration for desktop OpenGL";
    EGLContext context = EGL_NO_CONTEXT;
    for (size_t i = 0; i < VERSIONS && context == EGL_NO_CONTEXT; i++) {
        const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, versions[i][0],
                                  EGL_CONTEXT_MINOR_VERSION, versions[i][1], EGL_NONE};
        context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
    }
    if (context == EGL_NO_CONTEXT)
        return "it does not support OpenGL 3.3";
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
        return "its context cannot be made current";
    return NULL;
}

/* ---- GLX ------------------------------------------------------------------------------------- */

typedef struct x_display x_display;
typedef struct x_config *x_config;
typedef struct x_context *x_context;
typedef unsigned long x_drawable;

enum {
    GLX_DRAWABLE_TYPE = 0x8010,
    GLX_PBUFFER_BIT = 4,
    GLX_PBUFFER_HEIGHT = 0x8040,
    GLX_PBUFFER_WIDTH = 0x8041,
    GLX_CONTEXT_MAJOR = 0x2091,
    GLX_CONTEXT_MINOR = 0x2092
};

static struct {
    x_display *(*XOpenDisplay)(const char *name);
    int (*XDefaultScreen)(x_display *display);
    int (*(*XSetErrorHandler)(int (*handler)(x_display *, void *)))(x_display *, void *);
    x_config *(*glXChooseFBConfig)(x_display *, int screen, const int *wanted, int *count);
    x_drawable (*glXCreatePbuffer)(x_display *, x_config, const int *attributes);
    int (*glXMakeContextCurrent)(x_display *, x_drawable draw, x_drawable read, x_context);
    void (*(*glXGetProcAddressARB)(const unsigned char *name))(void);
    x_context (*glXCreateContextAttribsARB)(x_display *, x_config, x_context share, int direct,
                                            const int *attributes);
} x;

/* Stores a function's address by memcpy(), as ISO C can't convert it to a function pointer. */
static bool find(void *library, const char *name, void *function)
{
    void *symbol = library ? dlsym(library, name) : NULL;
    memcpy(function, &symbol, sizeof(symbol));
    return symbol;
}

static const char *load_glx(void)
{
    void *x11 = dlopen("libX11.so.6", RTLD_NOW | RTLD_LOCAL);
    if (!find(x11, "XOpenDisplay", &x.XOpenDisplay) ||
        !find(x11, "XDefaultScreen", &x.XDefaultScreen) ||
        !find(x11, "XSetErrorHandler", &x.XSetErrorHandler))
        return "libX11.so.6 was not found: install it (on Debian libx11-6)";
    void *glx = dlopen("libGLX.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!glx)
        glx = dlopen("libGL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!find(glx, "glXChooseFBConfig", &x.glXChooseFBConfig) ||
        !find(glx, "glXCreatePbuffer", &x.glXCreatePbuffer) ||
        !find(glx, "glXMakeContextCurrent", &x.glXMakeContextCurrent) ||
        !find(glx, "glXGetProcAddressARB", &x.glXGetProcAddressARB))
        return "libGLX.so.0 was not found: install it (on Debian libglx0 and libgl1)";
    void (*create)(void) =
        x.glXGetProcAddressARB((const unsigned char *)"glXCreateContextAttribsARB");
    memcpy(&x.glXCreateContextAttribsARB, &create, sizeof(create));
    return create ? NULL : "its GLX lacks GLX_ARB_create_context";
}

/*
 * Ignores X errors, since the default handler exits the program. Errors also show in the results of
 * the calls.
 */
static int go_on(x_display *display, void *event)
{
    (void)display;
    (void)event;
    return 0;
}

const char *glx_make_current(void)
{
    static const int wanted[] = {GLX_DRAWABLE_TYPE, GLX_PBUFFER_BIT, 0};
    static const int size[] = {GLX_PBUFFER_WIDTH, 1, GLX_PBUFFER_HEIGHT, 1, 0};
    int count = 0;
    const char *missing = load_glx();
    if (missing)
        return missing;
    x_display *display = x.XOpenDisplay(NULL);
    if (!display)
        return "no X server answers there, or it refuses this user (XAUTHORITY, xhost)";
    x.XSetErrorHandler(go_on);
    x_config *configs = x.glXChooseFBConfig(display, x.XDefaultScreen(display), wanted, &count);
    if (!configs || count == 0)
        return "its X server has no GLX, or no configuration to draw without a window";
    x_context context = NULL;
    for (size_t i = 0; i < VERSIONS && !context; i++) {
        const int version[] = {GLX_CONTEXT_MAJOR, versions[i][0], GLX_CONTEXT_MINOR, versions[i][1],
                               0};
        context = x.glXCreateContextAttribsARB(display, configs[0], NULL, 1, version);
    }
    if (!context)
        return "it does not support OpenGL 3.3";
    x_drawable drawable = x.glXCreatePbuffer(display, configs[0], size);
    if (!x.glXMakeContextCurrent(display, drawable, drawable, context))
        return "its context cannot be made current";
    return NULL;
}
