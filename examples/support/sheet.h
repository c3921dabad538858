/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The sheet of gallery: the position of each image, and how OpenGL draws it. */
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
    unsigned shadow;           /* an OpenGL program that draws shadows */
    unsigned programs[IMAGES]; /* one OpenGL program per image */
    unsigned framebuffer;      /* reads the renderbuffer, which shaders can't read */
    unsigned copy;             /* a texture that the renderbuffer is copied to */
};

/* False after an error, which has been printed. sheet_free() cleans up in any case. */
bool sheet_init(struct sheet *sheet, const struct collection *collection);

/* Draws the images. One pixel of an image is one pixel of the sheet. */
void sheet_draw(const struct sheet *sheet, const struct collection *collection);

/* Accepts a zeroed struct. */
void sheet_free(struct sheet *sheet);

#endif
