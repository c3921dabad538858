/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The window of viewer, with GLFW, and its keyboard and mouse input. */
#ifndef VIEWER_WINDOW_H
#define VIEWER_WINDOW_H

#include <stdbool.h>

#include "examples/support/camera.h"

struct GLFWwindow;

/* The API that creates the OpenGL context. */
enum viewer_api { VIEWER_NATIVE, VIEWER_EGL };

struct viewer_window {
    struct GLFWwindow *glfw;
    /* whether a clock paces the frames, since presenting does not wait for the screen */
    bool by_clock;
    double due;        /* the time when the next frame is due, by clock_seconds() */
    int width, height; /* the size of the framebuffer in pixels */
    struct orbit orbit;
    double x, y;     /* the position of the pointer */
    unsigned number; /* the last number key pressed; 0 if none was */
    bool paused;
    bool still; /* whether the user requested a still */
    bool ended; /* whether the window should close */
};

/*
 * Opens the window, with a current OpenGL context. False after an error, which has been printed;
 * viewer_window_close() cleans up in any case. The struct must not move before
 * viewer_window_close().
 */
bool viewer_window_open(struct viewer_window *window, enum viewer_api api, int width, int height,
                        bool borderless);
void viewer_window_close(struct viewer_window *window);

/*
 * Handles the input since the last call. Blocks while the window is minimised, waits a twentieth of
 * a second while the time is paused, and waits for the clock if `by_clock` is true.
 */
void viewer_window_poll(struct viewer_window *window);

#endif
