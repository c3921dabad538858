/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An offscreen render target: colour and depth with four samples per pixel, and a resolved colour
 * buffer for reading.
 */
#ifndef OFFSCREEN_H
#define OFFSCREEN_H

#include <stdbool.h>

struct offscreen {
    int width, height;
    unsigned drawn, resolved; /* framebuffer objects */
    unsigned renderbuffers[3];
};

/* False after an error, which has been printed. offscreen_free() cleans up in any case. */
bool offscreen_init(struct offscreen *target, int width, int height);

/* Binds the target for drawing and sets the viewport to all of it. */
void offscreen_bind(const struct offscreen *target);

/*
 * Waits until drawing is complete and copies the pixels: 3 bytes per pixel (RGB), the top row
 * first.
 */
void offscreen_read(const struct offscreen *target, unsigned char *pixels);

/*
 * Copies the pixels into an OpenGL buffer, without waiting: 4 bytes per pixel, the bottom row
 * first. The copy is complete when a fence after this call is signalled.
 */
void offscreen_read_into(const struct offscreen *target, unsigned buffer);

/* Copies the target to the window of the current OpenGL context. */
void offscreen_show(const struct offscreen *target);

/* Accepts a zeroed struct. */
void offscreen_free(struct offscreen *target);

#endif
