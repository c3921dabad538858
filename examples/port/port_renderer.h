/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The interface of the two renderers. A renderer creates the vertex buffer and the texture, shares
 * them with CUDA, and draws them. port.c orders CUDA and drawing for both.
 */
#ifndef PORT_RENDERER_H
#define PORT_RENDERER_H

#include <stdbool.h>

#include <grinterop/submit.h>

#include "examples/support/glsl.h"
#include "examples/support/matrix.h"

/* The shared resources: the vertices and the texture that port.h describes. */
enum { PORT_VERTICES, PORT_TEXTURE, PORT_SHARED };

/* The uniform block of the shaders. In clip space y points upwards, and z is from 0 to 1. */
struct port_view {
    struct matrix camera;
    float eye[4];
    float light[4]; /* the unit vector to the sun */
    float scale[4]; /* maps pixels to -1 to 1: pixel * xy - zw */
};

struct port_renderer {
    /*
     * Opens the renderer for pictures of that size, prints what it draws with, and creates the
     * shared resources by one of the `transports`. NULL after an error, which has been printed.
     */
    void *(*open)(int width, int height, bool validate, unsigned transports,
                  gr_resource *shared[PORT_SHARED]);
    /*
     * Draws the shared resources, 4 bytes per pixel (RGBA), the top row first, and commits
     * `submit`, which was begun for these resources. False after an error.
     */
    bool (*draw)(void *renderer, gr_submit *submit, const struct port_view *view,
                 unsigned char *pixels);
    /*
     * Frees the renderer and the shared resources. False if a validation layer printed a message.
     * Accepts NULL.
     */
    bool (*close)(void *renderer);
};

extern const struct port_renderer port_gl, port_vk;

/* The shaders, with one source for both renderers. */
extern const struct glsl port_surface_vert, port_surface_frag, port_background_frag;

#endif
