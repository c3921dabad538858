/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How particles are drawn: as points of light that add up in a picture of floats and leave trails
 * in it, which then becomes an ordinary picture.
 */
#ifndef PARTICLES_VIEW_H
#define PARTICLES_VIEW_H

#include <stdbool.h>

#include "examples/support/offscreen.h"
#include "examples/support/orbit.h"
#include "examples/support/screen.h"

struct particles_view {
    int width, height, count;
    struct orbit orbit;             /* moves the camera; may be changed */
    unsigned light, light_target;   /* a texture of floats with its framebuffer */
    unsigned points, fade, develop; /* programs */
    struct screen screen;
    struct offscreen target;
};

/*
 * False after an error, which has been printed. Either way particles_view_free() cleans up; zeros
 * are fine.
 */
bool particles_view_init(struct particles_view *view, int width, int height, int count);
void particles_view_free(struct particles_view *view);

/* A vertex array for sparks in a buffer object; the caller's. */
unsigned particles_view_array(unsigned buffer);

/* Adds the sparks of an array, seen at that time, and makes the picture. */
void particles_view_draw(const struct particles_view *view, unsigned array, float time);

#endif
