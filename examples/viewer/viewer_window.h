/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The window of viewer, with GLFW, and its keyboard and mouse input. */
#ifndef VIEWER_WINDOW_H
#define VIEWER_WINDOW_H

#include <stdbool.h>

#include "examples/support/orbit.h"

struct GLFWwindow;

/* The renderer, and how its OpenGL context is created. */
enum viewer_api { VIEWER_NATIVE, VIEWER_EGL, VIEWER_VULKAN };

/* The result of drawing a frame. */
enum viewer_drawn {
    VIEWER_FAILED,  /* an error has been printed */
    VIEWER_NOT_NOW, /* the window cannot be presented to, as while it is hidden */
    VIEWER_SHOWN
};

struct viewer_window {
    struct GLFWwindow *glfw;
    bool by_clock;     /* a clock paces the frames, since presenting does not wait for the screen */
    double due;        /* the time of the next frame, by clock_seconds() */
    int width, height; /* framebuffer size in pixels; 0: minimised */
    struct orbit orbit;
    double x, y;     /* pointer position */
    unsigned number; /* the last number key pressed; 0: none */
    bool paused;
    bool still; /* a still is requested */
    bool ended; /* the window should close */
};

/*
 * Opens it, with a current OpenGL context unless Vulkan draws. False after an error, which has been
 * printed; viewer_window_close() cleans up in any case. The struct must not move in between.
 */
bool viewer_window_open(struct viewer_window *window, enum viewer_api api, int width, int height,
                        bool borderless);
void viewer_window_close(struct viewer_window *window);

/*
 * Handles the input since the last call. Blocks while the window is minimised, waits a twentieth of
 * a second while the time is paused, and waits for the clock if it paces the frames.
 */
void viewer_window_poll(struct viewer_window *window);

#endif
