/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The window of viewer, with GLFW. */
#include "viewer_window.h"

#include <stdio.h>
#include <string.h>

/* libepoxy provides the OpenGL functions. */
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "examples/support/clock.h"

static void print_error(int code, const char *words)
{
    (void)code;
    fprintf(stderr, "GLFW: %s\n", words);
}

static void on_key(GLFWwindow *glfw, int key, int place, int action, int modifiers)
{
    struct viewer_window *w = glfwGetWindowUserPointer(glfw);
    (void)place;
    (void)modifiers;
    if (action != GLFW_PRESS)
        return;
    if (key >= GLFW_KEY_1 && key <= GLFW_KEY_9)
        w->number = (unsigned)(key - GLFW_KEY_0);
    else if (key == GLFW_KEY_SPACE)
        w->paused = !w->paused;
    else if (key == GLFW_KEY_S)
        w->still = true;
    else if (key == GLFW_KEY_R)
        w->orbit = (struct orbit){0};
    else if (key == GLFW_KEY_Q || key == GLFW_KEY_ESCAPE)
        w->ended = true;
}

static float between(float value, float least, float most)
{
    return value < least ? least : value > most ? most : value;
}

/* Turns the camera. Dragging across the whole window is half a turn. */
static void on_pointer(GLFWwindow *glfw, double x, double y)
{
    struct viewer_window *w = glfwGetWindowUserPointer(glfw);
    int width, height;
    glfwGetWindowSize(glfw, &width, &height);
    if (width > 0 && glfwGetMouseButton(glfw, GLFW_MOUSE_BUTTON_LEFT) == GLFW_PRESS) {
        w->orbit.turn -= 180.0f * (float)((x - w->x) / width);
        w->orbit.tilt =
            between(w->orbit.tilt + 180.0f * (float)((y - w->y) / width), -90.0f, 90.0f);
    }
    w->x = x;
    w->y = y;
}

static void on_wheel(GLFWwindow *glfw, double across, double along)
{
    struct viewer_window *w = glfwGetWindowUserPointer(glfw);
    (void)across;
    w->orbit.nearer = between(w->orbit.nearer + (float)along, -12.0f, 12.0f);
}

static void set_hints(enum viewer_api api)
{
    glfwWindowHint(GLFW_CONTEXT_CREATION_API,
                   api == VIEWER_EGL ? GLFW_EGL_CONTEXT_API : GLFW_NATIVE_CONTEXT_API);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    /* The window needs no depth: scenes are drawn offscreen and copied to the window. */
    glfwWindowHint(GLFW_DEPTH_BITS, 0);
    glfwWindowHint(GLFW_STENCIL_BITS, 0);
    glfwWindowHint(GLFW_ALPHA_BITS, 0);
}

/* Whether the display is Wayland. GLFW 3.3 is built for one display system, 3.4 for several. */
static bool is_on_wayland(void)
{
#ifdef GLFW_PLATFORM_WAYLAND
    return glfwGetPlatform() == GLFW_PLATFORM_WAYLAND;
#else
    const char *kinds = glfwGetVersionString();
    return strstr(kinds, "Wayland") && !strstr(kinds, "X11");
#endif
}

static const char *const remedies[] = {
    [VIEWER_NATIVE] = " with OpenGL 3.3: on X11 this needs the GLX extension. Use an X server with "
                      "GLX and a depth of 24 bits, or add --context egl",
    [VIEWER_EGL] = " with OpenGL 3.3: the EGL driver does not support this display. Use --context "
                   "native, which on X11 is GLX"};

bool viewer_window_open(struct viewer_window *w, enum viewer_api api, int width, int height,
                        bool borderless)
{
    *w = (struct viewer_window){0};
    glfwSetErrorCallback(print_error);
    if (!glfwInit()) {
        fprintf(stderr, "Cannot open a window: set DISPLAY or WAYLAND_DISPLAY to a display, or run "
                        "without a screen under xvfb-run.\n");
        return false;
    }
    set_hints(api);
    glfwWindowHint(GLFW_DECORATED, !borderless);
    w->glfw = glfwCreateWindow(width, height, "grinterop", NULL, NULL);
    if (!w->glfw) {
        fprintf(stderr, "Cannot open a window of %dx%d%s.\n", width, height, remedies[api]);
        return false;
    }
    glfwSetWindowUserPointer(w->glfw, w);
    glfwSetKeyCallback(w->glfw, on_key);
    glfwSetCursorPosCallback(w->glfw, on_pointer);
    glfwSetScrollCallback(w->glfw, on_wheel);
    w->by_clock = is_on_wayland();
    glfwMakeContextCurrent(w->glfw);
    glfwSwapInterval(w->by_clock ? 0 : 1);
    return true;
}

/*
 * Waits until the next frame is due. Wayland requests no frames for a hidden window, so waiting for
 * a request would block input and exit until the window is visible again.
 */
static void wait_until_due(struct viewer_window *w)
{
    GLFWmonitor *monitor = glfwGetPrimaryMonitor();
    const GLFWvidmode *mode = monitor ? glfwGetVideoMode(monitor) : NULL;
    const double frame = 1.0 / (mode && mode->refreshRate > 0 ? mode->refreshRate : 60);
    for (double left; (left = w->due - clock_seconds()) > 0;)
        glfwWaitEventsTimeout(left);
    w->due = clock_seconds() + frame;
}

/* Reads the size of the window. On X11 a minimised window keeps its size. */
static bool is_minimised(struct viewer_window *w)
{
    glfwGetFramebufferSize(w->glfw, &w->width, &w->height);
    return w->width == 0 || w->height == 0 || glfwGetWindowAttrib(w->glfw, GLFW_ICONIFIED);
}

void viewer_window_poll(struct viewer_window *w)
{
    const double a_while = 0.05;
    if (w->paused)
        glfwWaitEventsTimeout(a_while);
    else if (w->by_clock)
        wait_until_due(w);
    glfwPollEvents();
    while (is_minimised(w) && !glfwWindowShouldClose(w->glfw))
        glfwWaitEvents();
    w->ended = w->ended || glfwWindowShouldClose(w->glfw);
}

void viewer_window_close(struct viewer_window *w)
{
    if (w->glfw)
        glfwDestroyWindow(w->glfw);
    glfwTerminate();
    *w = (struct viewer_window){0};
}
