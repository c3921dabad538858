/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds the EGL devices, and creates OpenGL contexts by EGL and GLX. X11 and GLX are loaded at run
 * time, since servers lack them. Their types and constants are declared in this file, so that the
 * build does not need their headers.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <epoxy/egl.h>

#include "lib/cuda/driver_outside.h"
#include "gl/context/egl_device.h"
#include "tools/info/finding.h"
#include "tools/info/try.h"

/* The versions to try. OpenGL 3.3 is the oldest that grinterop's egl.h creates. */
static const int versions[][2] = {{4, 6}, {4, 5}, {3, 3}};
enum { VERSIONS = sizeof(versions) / sizeof(versions[0]) };

/* ---- EGL ------------------------------------------------------------------------------------- */

enum { MOST_EGL_DEVICES = 32 };

/* Returns the number of EGL devices, or 0 if EGL can't list them. */
static int egl_list(EGLDeviceEXT devices[MOST_EGL_DEVICES])
{
    EGLint count = 0;
    bool can = epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_device") &&
               (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_enumeration") ||
                epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_base"));
    return can && eglQueryDevicesEXT(MOST_EGL_DEVICES, devices, &count) ? count : 0;
}

static void say_egl_device(EGLDeviceEXT device, int number)
{
    const char *extensions = eglQueryDeviceStringEXT(device, EGL_EXTENSIONS);
    bool software = extensions && epoxy_extension_in_string(extensions, "EGL_MESA_device_software");
    EGLAttrib cuda = -1;
    const char *is = software ? "the CPU (Mesa)" : "no CUDA device";
    if (extensions && epoxy_extension_in_string(extensions, "EGL_NV_device_cuda") &&
        eglQueryDeviceAttribEXT(device, EGL_CUDA_DEVICE_NV, &cuda) && cuda >= 0)
        is = text_of("CUDA device %d", (int)cuda);
    say(text_of("egl/device/%d", number), MARK_NOTE, text_of("EGL device %d: %s", number, is), "%s",
        "");
    say_fact("extensions", "%s", extensions ? extensions : "");
    say_fact("software", "%s", software ? "yes" : "no");
    if (cuda >= 0)
        say_fact("cuda_device", "%d", (int)cuda);
}

void find_egl(const struct find *find)
{
    EGLDeviceEXT devices[MOST_EGL_DEVICES];
    char advice[600];
    (void)find;
    gr_cuda_load(false); /* if CUDA is loaded, EGL loads the drivers that match it */
    if (!epoxy_has_egl()) {
        say("egl/loader", MARK_BAD, "no EGL",
            "libEGL.so.1 was not found: install it (on Debian libegl1).");
        return;
    }
    int count = egl_list(devices);
    for (int i = 0; i < count; i++)
        say_egl_device(devices[i], i);
    if (count)
        return;
    egl_vendor_advise(gr_cuda_is_software(), advice, sizeof(advice));
    /* With CUDA, the OpenGL finder reports the failure, too. */
    say("egl/drivers", gr_driver_functions() ? MARK_BAD | DETAIL : MARK_BAD, "EGL has no devices",
        "%s", advice);
}

const char *egl_make_current(int number)
{
    static const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                                    EGL_OPENGL_BIT, EGL_NONE};
    EGLDeviceEXT devices[MOST_EGL_DEVICES];
    EGLConfig config;
    EGLint count = 0;
    if (!epoxy_has_egl() || number < 0 || number >= egl_list(devices))
        return "this EGL device no longer exists";
    EGLDisplay display = eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, devices[number], NULL);
    if (!eglInitialize(display, NULL, NULL))
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

static struct {
    void *(*XOpenDisplay)(const char *name);
    int (*XDefaultScreen)(void *display);
    int (*(*XSetErrorHandler)(int (*handler)(void *display, void *event)))(void *, void *);
    void **(*glXChooseFBConfig)(void *display, int screen, const int *wanted, int *count);
    unsigned long (*glXCreatePbuffer)(void *display, void *config, const int *attributes);
    int (*glXMakeContextCurrent)(void *display, unsigned long draw, unsigned long read, void *);
    void (*(*glXGetProcAddressARB)(const unsigned char *name))(void);
    void *(*glXCreateContextAttribsARB)(void *display, void *config, void *share, int direct,
                                        const int *attributes);
} x;

static const struct {
    const char *name;
    void *function;
} functions[] = {
    {"XOpenDisplay", &x.XOpenDisplay},
    {"XDefaultScreen", &x.XDefaultScreen},
    {"XSetErrorHandler", &x.XSetErrorHandler},
    {"glXChooseFBConfig", &x.glXChooseFBConfig},
    {"glXCreatePbuffer", &x.glXCreatePbuffer},
    {"glXMakeContextCurrent", &x.glXMakeContextCurrent},
    {"glXGetProcAddressARB", &x.glXGetProcAddressARB},
};

/* Stores addresses by memcpy(), as ISO C can't convert them to function pointers. */
static const char *load_glx(void)
{
    void *x11 = dlopen("libX11.so.6", RTLD_NOW | RTLD_LOCAL);
    void *glx = dlopen("libGLX.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!glx)
        glx = dlopen("libGL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!x11)
        return "libX11.so.6 was not found: install it (on Debian libx11-6)";
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *file = functions[i].name[0] == 'X' ? x11 : glx;
        void *symbol = file ? dlsym(file, functions[i].name) : NULL;
        if (!symbol)
            return "libGLX.so.0 was not found: install it (on Debian libglx0 and libgl1)";
        memcpy(functions[i].function, &symbol, sizeof(symbol));
    }
    void (*create)(void) =
        x.glXGetProcAddressARB((const unsigned char *)"glXCreateContextAttribsARB");
    memcpy(&x.glXCreateContextAttribsARB, &create, sizeof(create));
    return create ? NULL : "its GLX lacks GLX_ARB_create_context";
}

/* Ignores X errors: the default handler exits, and the results of the calls show errors, too. */
static int go_on(void *display, void *event)
{
    (void)display;
    (void)event;
    return 0;
}

const char *glx_make_current(void)
{
    static const int wanted[] = {0x8010, 4, 0};          /* GLX_DRAWABLE_TYPE: GLX_PBUFFER_BIT */
    static const int size[] = {0x8041, 1, 0x8040, 1, 0}; /* GLX_PBUFFER_WIDTH, _HEIGHT */
    int count = 0;
    const char *missing = load_glx();
    if (missing)
        return missing;
    void *display = x.XOpenDisplay(NULL);
    if (!display)
        return "no X server answers there, or it refuses this user (XAUTHORITY, xhost)";
    x.XSetErrorHandler(go_on);
    void **configs = x.glXChooseFBConfig(display, x.XDefaultScreen(display), wanted, &count);
    if (!configs || count == 0)
        return "its X server has no GLX, or no configuration to draw without a window";
    void *context = NULL;
    for (size_t i = 0; i < VERSIONS && !context; i++) {
        /* GLX_CONTEXT_MAJOR_VERSION_ARB, GLX_CONTEXT_MINOR_VERSION_ARB */
        const int version[] = {0x2091, versions[i][0], 0x2092, versions[i][1], 0};
        context = x.glXCreateContextAttribsARB(display, configs[0], NULL, 1, version);
    }
    if (!context)
        return "it does not support OpenGL 3.3";
    unsigned long drawable = x.glXCreatePbuffer(display, configs[0], size);
    if (!x.glXMakeContextCurrent(display, drawable, drawable, context))
        return "its context cannot be made current";
    return NULL;
}
