/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PNG files, through libpng.
 */
#ifndef PNG_FILE_H
#define PNG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In memory: red, green, blue, alpha, 16 bits each, the values of the file, the top row first. */
struct picture {
    int width, height;
    bool coloured; /* some pixel is not grey */
    uint16_t *pixels;
};

/*
 * Reads a PNG file of any kind: grey, colour, palette, 1 to 16 bits, interlaced. Values of fewer
 * bits are spread over the 16 and none is gamma corrected. On failure it prints why and returns
 * false.
 */
bool png_file_read(const char *path, struct picture *picture);

/* Zeros are fine. */
void picture_free(struct picture *picture);

/*
 * Writes 3 bytes a pixel (RGB), the top row first. On failure it prints why, leaves no half of a
 * file behind and returns false.
 */
bool png_file_write(const char *path, int width, int height, const unsigned char *pixels);

#endif
