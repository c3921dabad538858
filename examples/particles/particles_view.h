/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Draws particles as points of light that accumulate in a float texture, leave trails, and are
 * converted to an ordinary picture.
 */
#ifndef PARTICLES_VIEW_H
#define PARTICLES_VIEW_H

#include <stdbool.h>

#include "examples/support/offscreen.h"
#include "examples/support/camera.h"
#include "examples/support/screen.h"

struct particles_view {
    int width, height, count;
    struct orbit orbit;             /* input that moves the camera; the caller may change it */
    unsigned light, light_target;   /* a float texture for the light, and its framebuffer */
    unsigned points, fade, develop; /* the OpenGL programs */
    struct screen screen;
    struct offscreen target;
};

/*
 * Creates the OpenGL objects. False after an error, which has been printed. particles_view_free()
 * cleans up in any case and accepts a zeroed struct.
 */
bool particles_view_init(struct particles_view *view, int width, int height, int count);
void particles_view_free(struct particles_view *view);

/* Creates a vertex array for the sparks in a buffer. The caller deletes the array. */
unsigned particles_view_array(unsigned buffer);

/* Adds the light of the sparks in an array, as the camera sees them at `time`. Draws the picture.
 */
void particles_view_draw(const struct particles_view *view, unsigned array, float time);

#endif
