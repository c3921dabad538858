/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Covers the whole viewport with a picture or the background. */
#ifndef SCREEN_H
#define SCREEN_H

#include <stdbool.h>

struct screen {
    unsigned empty_array;
    unsigned backdrop; /* an OpenGL program for screen_cover() that draws the background */
};

/* The vertex shader of programs for screen_cover(). `place` is from -1 to 1, y upwards. */
extern const char screen_vertex[];

/* False after an error, which has been printed. screen_free() cleans up in any case. */
bool screen_init(struct screen *screen);

/* Runs the program for each pixel of the viewport, without a depth test. */
void screen_cover(const struct screen *screen, unsigned program);

/* Draws a dark background. */
void screen_backdrop(const struct screen *screen);

/* Accepts a zeroed struct. */
void screen_free(struct screen *screen);

#endif
