/* SPDX-License-Identifier: Apache-2.0 */
/*
 * X11 and GLX are no libraries of this program: a server has neither. Their types and constants are
 * written down here, so that building it does not need their headers either.
 */
#include "tools/info/glx_context.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

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

/* ---- The libraries --------------------------------------------------------------------------- */

/* ISO C has no conversion from an object's address to a function's. */
static bool find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof(symbol));
    return symbol;
}

static const char *load_x11(void)
{
    void *library = dlopen("libX11.so.6", RTLD_NOW | RTLD_LOCAL);
    if (!library || !find(library, "XOpenDisplay", &x.XOpenDisplay) ||
        !find(library, "XDefaultScreen", &x.XDefaultScreen) ||
        !find(library, "XSetErrorHandler", &x.XSetErrorHandler))
        return "libX11.so.6 was not found: install it (on Debian libx11-6)";
    return NULL;
}

static const char *load_glx(void)
{
    void *library = dlopen("libGLX.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        library = dlopen("libGL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library || !find(library, "glXChooseFBConfig", &x.glXChooseFBConfig) ||
        !find(library, "glXCreatePbuffer", &x.glXCreatePbuffer) ||
        !find(library, "glXMakeContextCurrent", &x.glXMakeContextCurrent) ||
        !find(library, "glXGetProcAddressARB", &x.glXGetProcAddressARB))
        return "libGLX.so.0 was not found: install it (on Debian libglx0 and libgl1)";
    void (*create)(void) =
        x.glXGetProcAddressARB((const unsigned char *)"glXCreateContextAttribsARB");
    memcpy(&x.glXCreateContextAttribsARB, &create, sizeof(create));
    return create ? NULL : "its GLX lacks GLX_ARB_create_context";
}

/* ---- The context ----------------------------------------------------------------------------- */

/* X's own ends the program. What the server refused is seen by what the call returns. */
static int go_on(x_display *display, void *event)
{
    (void)display;
    (void)event;
    return 0;
}

/* OpenGL 3.3, or what is newer and has all of it, as egl_make_current() does. */
static x_context create(x_display *display, x_config config)
{
    static const int versions[][2] = {{4, 6}, {4, 5}, {3, 3}};
    x_context context = NULL;
    for (size_t i = 0; i < 3 && !context; i++) {
        const int attributes[] = {GLX_CONTEXT_MAJOR, versions[i][0], GLX_CONTEXT_MINOR,
                                  versions[i][1], 0};
        context = x.glXCreateContextAttribsARB(display, config, NULL, 1, attributes);
    }
    return context;
}

static const char *make_current(x_display *display)
{
    static const int wanted[] = {GLX_DRAWABLE_TYPE, GLX_PBUFFER_BIT, 0};
    static const int size[] = {GLX_PBUFFER_WIDTH, 1, GLX_PBUFFER_HEIGHT, 1, 0};
    int count = 0;
    x_config *configs = x.glXChooseFBConfig(display, x.XDefaultScreen(display), wanted, &count);
    if (!configs || count == 0)
        return "its X server has no GLX, or no configuration to draw without a window";
    x_context context = create(display, configs[0]);
    if (!context)
        return "it gives no OpenGL of 3.3 or newer";
    x_drawable drawable = x.glXCreatePbuffer(display, configs[0], size);
    if (!x.glXMakeContextCurrent(display, drawable, drawable, context))
        return "its context cannot be made current";
    return NULL;
}

const char *glx_make_current(void)
{
    const char *missing = load_x11();
    if (!missing)
        missing = load_glx();
    if (missing)
        return missing;
    x_display *display = x.XOpenDisplay(NULL);
    if (!display)
        return "no X server answers there, or it does not let this user in (XAUTHORITY, xhost)";
    x.XSetErrorHandler(go_on);
    return make_current(display);
}
