/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* PNG files, by the simplified interface of libpng. */
#define _GNU_SOURCE
#include "png_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <png.h>

/* The largest picture takes half a gigabyte. A file of a few bytes can claim any size. */
enum { MOST_PIXELS = 1 << 27 };

/* Reads the rows. Returns NULL, or the reason of a failure. */
static const char *read_rows(png_image *image, struct picture *picture)
{
    if (image->width > MOST_PIXELS / image->height)
        return "the picture is too large (134 million pixels at most)";
    image->format = PNG_FORMAT_RGBA;
    image->flags |= PNG_IMAGE_FLAG_16BIT_sRGB; /* 16 bits are encoded as 8 bits are */
    picture->pixels = calloc((size_t)image->width * image->height, 4);
    if (!picture->pixels)
        return "not enough memory for the picture";
    picture->width = (int)image->width;
    picture->height = (int)image->height;
    return png_image_finish_read(image, NULL, picture->pixels, 0, NULL) ? NULL : image->message;
}

bool png_file_read(const char *path, struct picture *picture)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    *picture = (struct picture){0};
    const bool begun = png_image_begin_read_from_file(&image, path);
    const char *wrong = begun ? read_rows(&image, picture) : image.message;
    if (wrong) {
        fprintf(stderr, "%s cannot be read as a PNG file: %s\n", path, wrong);
        picture_free(picture);
    }
    png_image_free(&image);
    return !wrong;
}

void picture_free(struct picture *picture)
{
    free(picture->pixels);
    *picture = (struct picture){0};
}

/* Removes a partial file, but only a regular file: a device named as the output must stay. */
static void remove_partial(const char *path)
{
    struct stat status;
    if (lstat(path, &status) == 0 && S_ISREG(status.st_mode))
        unlink(path);
}

bool png_file_write(const char *path, int width, int height, const unsigned char *pixels)
{
    FILE *file = fopen(path, "wb");
    if (!file) {
        fprintf(stderr, "%s cannot be written: %s\n", path, strerror(errno));
        return false;
    }
    png_image image = {
        .version = PNG_IMAGE_VERSION,
        .width = (png_uint_32)width,
        .height = (png_uint_32)height,
        .format = PNG_FORMAT_RGB,
    };
    errno = 0;
    const bool encoded = png_image_write_to_stdio(&image, file, 0, pixels, 0, NULL);
    /* Closing flushes the stdio buffer, which may find that the disk is full. */
    const bool closed = fclose(file) == 0;
    if (encoded && closed)
        return true;
    fprintf(stderr, "%s cannot be written: %s\n", path,
            errno != 0 ? strerror(errno) : image.message);
    remove_partial(path);
    return false;
}
