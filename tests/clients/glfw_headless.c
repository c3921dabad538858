/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A GLFW without windows, for the steps of examples/porting and for OpenSubdiv's glImaging on a
 * machine without a display: they draw to an EGL pbuffer. This GLFW has only the calls that they
 * use.
 *
 *     cc -shared -fPIC -Wl,-soname,libglfw.so.3 -o libglfw.so.3 glfw_headless.c -lEGL
 *     LD_LIBRARY_PATH=. ./ripples --frames 24 --picture drawn.ppm
 *
 * A Vulkan step draws without a window if GLFW finds no display: for that, set GLFW_NO_DISPLAY.
 */
#include "pbuffer.h"

#include <GLFW/glfw3.h>
#include <stdbool.h>
#include <time.h>

int glfwInit(void)
{
    return getenv("GLFW_NO_DISPLAY") ? GLFW_FALSE : GLFW_TRUE;
}

void glfwTerminate(void)
{
}

/* The version of the next context. For a request of 3.3, NVIDIA creates exactly 3.3. */
static int major = 1, minor;
static bool core;

void glfwWindowHint(int hint, int value)
{
    if (hint == GLFW_CONTEXT_VERSION_MAJOR)
        major = value;
    else if (hint == GLFW_CONTEXT_VERSION_MINOR)
        minor = value;
    else if (hint == GLFW_OPENGL_PROFILE)
        core = value == GLFW_OPENGL_CORE_PROFILE;
}

/* The only window. It has no properties, and only needs an address. */
static char window;

GLFWwindow *glfwCreateWindow(int width, int height, const char *title, GLFWmonitor *monitor,
                             GLFWwindow *share)
{
    const EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION,
                                 major,
                                 EGL_CONTEXT_MINOR_VERSION,
                                 minor,
                                 core ? EGL_CONTEXT_OPENGL_PROFILE_MASK : EGL_NONE,
                                 EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                 EGL_NONE};
    (void)title;
    (void)monitor;
    (void)share;
    pbuffer_create(width, height, attributes);
    return (GLFWwindow *)&window;
}

void glfwMakeContextCurrent(GLFWwindow *current)
{
    (void)current;
}

int glfwWindowShouldClose(GLFWwindow *asked)
{
    (void)asked;
    return GLFW_FALSE;
}

void glfwSwapBuffers(GLFWwindow *drawn)
{
    (void)drawn;
    pbuffer_swap();
}

void glfwPollEvents(void)
{
}

double glfwGetTime(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- Functions that the Vulkan steps call, if they have a display ---------------------------- */

int glfwVulkanSupported(void)
{
    return GLFW_FALSE;
}

const char **glfwGetRequiredInstanceExtensions(uint32_t *count)
{
    *count = 0;
    return NULL;
}

int glfwGetPhysicalDevicePresentationSupport(void *instance, void *device, uint32_t family)
{
    (void)instance;
    (void)device;
    (void)family;
    return GLFW_FALSE;
}

void glfwGetFramebufferSize(GLFWwindow *asked, int *width, int *height)
{
    (void)asked;
    *width = *height = 0;
}

int glfwCreateWindowSurface(void *instance, GLFWwindow *asked, const void *allocator, void *surface)
{
    (void)instance;
    (void)asked;
    (void)allocator;
    (void)surface;
    return -1;
}
