/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sheet of gallery: where each image hangs, and how OpenGL draws it there.
 */
#ifndef SHEET_H
#define SHEET_H

#include <stdbool.h>

#include "collection.h"
#include "offscreen.h"
#include "screen.h"

enum { SHEET_WIDTH = 1280, SHEET_HEIGHT = 720 };

struct sheet {
    struct screen screen;
    struct offscreen target;
    unsigned shadow;           /* an OpenGL program */
    unsigned programs[IMAGES]; /* to draw each image */
    unsigned framebuffer;      /* of the renderbuffer, which no shader can read */
    unsigned copy;             /* so this is a texture that it is copied to */
};

/* False after an error, which has been printed. Either way sheet_free() cleans up. */
bool sheet_init(struct sheet *sheet, const struct collection *collection);

/* Draws the images, each pixel of an image as one pixel of the sheet. */
void sheet_draw(const struct sheet *sheet, const struct collection *collection);

/* Zeros are fine. */
void sheet_free(struct sheet *sheet);

#endif
