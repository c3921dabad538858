/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* PNG files, through libpng. */
#ifndef PNG_FILE_H
#define PNG_FILE_H

#include <stdbool.h>

/* A picture in memory: red, green, blue, alpha, a byte each, the top row first. */
struct picture {
    int width, height;
    unsigned char *pixels;
};

/*
 * Reads a PNG file of any kind: grey, colour, palette, 1 to 16 bits, interlaced. On failure, prints
 * the reason and returns false.
 */
bool png_file_read(const char *path, struct picture *picture);

/* Accepts a zeroed struct. */
void picture_free(struct picture *picture);

/*
 * Writes 3 bytes per pixel (RGB), the top row first. On failure, prints the reason, removes the
 * partial file and returns false.
 */
bool png_file_write(const char *path, int width, int height, const unsigned char *pixels);

#endif
