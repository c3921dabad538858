/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The interface of the two renderers, viewer_gl.c and viewer_vk.c. */
#ifndef VIEWER_RENDERER_H
#define VIEWER_RENDERER_H

#include <stddef.h>

#include "viewer_window.h"

struct viewer_options {
    int width, height;
    int scene; /* the first scene to show, or -1 */
    int api;   /* an enum viewer_api, or -1 if it is not set */
    int frames;
    int mesh, particles, tensor_width, tensor_height;
    double time;
    bool borderless, paused, vulkan;
    int transport; /* Vulkan only: 0 for the best transport, 1 for copies, -1 if not set */
    const char *still;
};

/* A frame to draw. */
struct viewer_frame {
    int width, height;
    int scene;
    float time;         /* the time in the scene, in seconds */
    struct orbit orbit; /* the input that moves the camera */
    /* receives the picture, 3 bytes per pixel (RGB), the top row first; NULL if it is not wanted */
    unsigned char *pixels;
};

struct viewer_renderer {
    const char *const *scenes; /* the names of the scenes; NULL ends the list */

    /*
     * Opens the renderer and prints the devices that it uses. NULL after an error, which has been
     * printed.
     */
    void *(*open)(const struct viewer_window *window, const struct viewer_options *options);

    /* Draws a frame and shows it in the window. */
    enum viewer_drawn (*draw)(void *renderer, const struct viewer_frame *frame);

    /* Describes the frame for the title: the transport of the last frame, and the renderer. */
    void (*describe)(const void *renderer, char *text, size_t size);

    /* Frees the renderer. False if a validation layer printed a message. Accepts NULL. */
    bool (*close)(void *renderer);
};

extern const struct viewer_renderer viewer_gl, viewer_vk;

#endif
