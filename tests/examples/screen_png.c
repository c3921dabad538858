/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * screen_png SCREEN WIDTH HEIGHT OUT.png: saves the upper left corner of an Xvfb screen as a PNG
 * file. SCREEN is the file in which `Xvfb -fbdir` keeps the screen, in xwd format.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/support/png_file.h"

/* The positions of fields in the header, in words, which are big-endian. */
enum { HEADER_SIZE = 0, WIDTH = 4, HEIGHT = 5, BITS = 11, PITCH = 12, COLOURS = 19, WORDS = 25 };

/* The size of an entry in the colour map, which lies between the header and the pixels. */
enum { COLOUR_BYTES = 12 };

static bool read_header(FILE *file, uint32_t words[WORDS])
{
    unsigned char bytes[4 * WORDS];
    if (fread(bytes, sizeof(bytes), 1, file) != 1)
        return false;
    for (int i = 0; i < WORDS; i++)
        words[i] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 |
                   (uint32_t)bytes[4 * i + 2] << 8 | bytes[4 * i + 3];
    return words[BITS] == 32;
}

/* Converts blue, green, red and a padding byte to red, green, blue. */
static bool read_pixels(FILE *file, const uint32_t words[WORDS], int width, int height,
                        unsigned char *pixels)
{
    const long start = (long)words[HEADER_SIZE] + (long)words[COLOURS] * COLOUR_BYTES;
    for (int y = 0; y < height; y++) {
        if (fseek(file, start + (long)words[PITCH] * y, SEEK_SET) != 0)
            return false;
        for (int x = 0; x < width; x++, pixels += 3) {
            unsigned char four[4];
            if (fread(four, sizeof(four), 1, file) != 1)
                return false;
            pixels[0] = four[2];
            pixels[1] = four[1];
            pixels[2] = four[0];
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    const int width = argc == 5 ? atoi(argv[2]) : 0, height = argc == 5 ? atoi(argv[3]) : 0;
    if (width <= 0 || height <= 0 || width > 16384 || height > 16384) {
        fprintf(stderr, "Usage: screen_png SCREEN WIDTH HEIGHT OUT.png\n");
        return 2;
    }
    uint32_t words[WORDS];
    FILE *file = fopen(argv[1], "rb");
    unsigned char *pixels = malloc(3 * (size_t)width * (size_t)height);
    const bool read = file && pixels && read_header(file, words) &&
                      (uint32_t)width <= words[WIDTH] && (uint32_t)height <= words[HEIGHT] &&
                      read_pixels(file, words, width, height, pixels);
    if (!read)
        fprintf(stderr, "%s contains no screen with 32 bits per pixel and %dx%d pixels.\n", argv[1],
                width, height);
    const bool done = read && png_file_write(argv[4], width, height, pixels);
    free(pixels);
    if (file)
        fclose(file);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
