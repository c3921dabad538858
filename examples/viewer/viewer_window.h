/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The viewer's window, by GLFW: what keys and mouse ask for.
 */
#ifndef VIEWER_WINDOW_H
#define VIEWER_WINDOW_H

#include <stdbool.h>

#include "examples/support/orbit.h"

struct GLFWwindow;

/* Who draws in it, and by what its OpenGL context is made. */
enum viewer_api { VIEWER_NATIVE, VIEWER_EGL, VIEWER_VULKAN };

/* What came of a frame. */
enum viewer_drawn {
    VIEWER_FAILED,  /* an error has been printed */
    VIEWER_NOT_NOW, /* the window takes no picture, as while nobody sees it */
    VIEWER_SHOWN
};

struct viewer_window {
    struct GLFWwindow *glfw;
    bool by_clock; /* the clock says when the next frame is due: showing one waits for no screen */
    double due;    /* then it is this one's time, of clock_seconds() */
    int width, height; /* of what is drawn, in pixels; 0: it is minimised */
    struct orbit orbit;
    double x, y;     /* where the pointer is */
    unsigned number; /* the number key that was pressed last; 0: none yet */
    bool paused;
    bool still; /* a still is asked for */
    bool ended; /* the window shall close */
};

/*
 * Opens it, with an OpenGL context that is current unless Vulkan draws. False after an error, which
 * has been printed; either way viewer_window_close() cleans up. The struct stays where it is in
 * between.
 */
bool viewer_window_open(struct viewer_window *window, enum viewer_api api, int width, int height,
                        bool borderless);
void viewer_window_close(struct viewer_window *window);

/*
 * Takes what keys and mouse have done since. It waits for them while the window is minimised, a
 * twentieth of a second where the time stands still, and for the clock where that is asked.
 */
void viewer_window_listen(struct viewer_window *window);

#endif
