/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define _GNU_SOURCE
#include "ppm_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest width or height. A larger one indicates a damaged file. */
enum { MOST_SIDE = 1 << 13 };

static bool read_header(FILE *file, struct picture *picture)
{
    int most = 0;
    return fscanf(file, "P6 %5d %5d %3d", &picture->width, &picture->height, &most) == 3 &&
           fgetc(file) != EOF && most == 255 && picture->width > 0 && picture->height > 0 &&
           picture->width <= MOST_SIDE && picture->height <= MOST_SIDE;
}

/* Reads the picture. Returns NULL, or what is wrong with the file. */
static const char *read_file(FILE *file, struct picture *picture)
{
    if (!read_header(file, picture))
        return "it does not start like a picture of bytes (P6, width, height, 255)";
    const size_t count = (size_t)picture->width * (size_t)picture->height;
    picture->pixels = calloc(count, 4);
    if (!picture->pixels)
        return "not enough memory for the picture";
    for (unsigned char *p = picture->pixels, *end = p + 4 * count; p < end; p += 4) {
        if (fread(p, 3, 1, file) != 1)
            return "it ends too early";
        p[3] = 255;
    }
    return NULL;
}

bool ppm_file_read(const char *path, struct picture *picture)
{
    *picture = (struct picture){0};
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "%s cannot be opened: %s\n", path, strerror(errno));
        return false;
    }
    const char *wrong = read_file(file, picture);
    fclose(file);
    if (!wrong)
        return true;
    fprintf(stderr, "%s cannot be read as a PPM file: %s\n", path, wrong);
    picture_free(picture);
    return false;
}
