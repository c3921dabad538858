/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drawing that covers the whole viewport: a picture onto a picture, and the background of all.
 */
#ifndef SCREEN_H
#define SCREEN_H

#include <stdbool.h>

struct screen {
    unsigned empty_array;
    unsigned backdrop; /* an OpenGL program, as are those that screen_cover() takes */
};

/* The vertex shader of a program for screen_cover(): `place` goes from -1 to 1, y upwards. */
extern const char screen_vertex[];

/* False after an error, which has been printed. Either way screen_free() cleans up. */
bool screen_init(struct screen *screen);

/* Runs the program for each pixel of the viewport, without depth. */
void screen_cover(const struct screen *screen, unsigned program);

/* Something dark and quiet behind everything else. */
void screen_backdrop(const struct screen *screen);

/* Zeros are fine. */
void screen_free(struct screen *screen);

#endif
