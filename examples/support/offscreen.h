/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A place to draw without a window: colour and depth with four samples a pixel, and the colour
 * without samples to read it from.
 */
#ifndef OFFSCREEN_H
#define OFFSCREEN_H

#include <stdbool.h>

struct offscreen {
    int width, height;
    unsigned drawn, resolved; /* framebuffer objects */
    unsigned renderbuffers[3];
};

/* False after an error, which has been printed. Either way offscreen_free() cleans up. */
bool offscreen_init(struct offscreen *target, int width, int height);

/* Makes it the place that OpenGL draws to, and the viewport all of it. */
void offscreen_bind(const struct offscreen *target);

/* Waits for what was drawn and copies it out: 3 bytes a pixel (RGB), the top row first. */
void offscreen_read(const struct offscreen *target, unsigned char *pixels);

/*
 * The same without waiting, into a buffer of OpenGL's: 4 bytes a pixel, the lowest row first. They
 * are there when a fence after this call is signalled.
 */
void offscreen_read_into(const struct offscreen *target, unsigned buffer);

/* Copies it into the window that OpenGL's context belongs to. */
void offscreen_show(const struct offscreen *target);

/* Zeros are fine. */
void offscreen_free(struct offscreen *target);

#endif
