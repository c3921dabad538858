/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * PNG files. Reading uses the full libpng interface, because the simplified interface converts 16
 * bit values to linear light, which would distort the heights of a height map.
 */
#define _GNU_SOURCE
#include "png_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <png.h>

/* The largest picture takes one gigabyte in memory. A file of a few bytes can claim any size. */
enum { MOST_PIXELS = 1 << 27 };

/* The libpng error handler: keeps the message for the caller of setjmp() to print. */
static void keep_message(png_structp png, png_const_charp words)
{
    char *kept = png_get_error_ptr(png);
    snprintf(kept, 128, "%s", words);
    png_longjmp(png, 1);
}

static void ignore_words(png_structp png, png_const_charp words)
{
    (void)png;
    (void)words;
}

/* Makes libpng return rows of any file as 16 bit RGBA in native byte order. */
static void set_rgba16_output(png_structp png, png_infop info)
{
    png_set_expand_16(png);
    if (!(png_get_color_type(png, info) & PNG_COLOR_MASK_COLOR))
        png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 0xffff, PNG_FILLER_AFTER);
    const uint16_t one = 1;
    if (*(const unsigned char *)&one == 1)
        png_set_swap(png);
}

/*
 * Reads the rows. Errors leave this function by longjmp, so every allocation is stored in *picture
 * at once.
 */
static void read_rows(png_structp png, png_infop info, FILE *file, struct picture *picture)
{
    png_init_io(png, file);
    png_read_info(png, info);
    const size_t width = png_get_image_width(png, info), height = png_get_image_height(png, info);
    if (width > MOST_PIXELS / height)
        png_error(png, "the picture is too large (134 million pixels at most)");
    set_rgba16_output(png, info);
    const int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);

    picture->width = (int)width;
    picture->height = (int)height;
    picture->pixels = calloc(width * height, 4 * sizeof(*picture->pixels));
    if (!picture->pixels)
        png_error(png, "not enough memory for the picture");
    for (int pass = 0; pass < passes; pass++)
        for (size_t row = 0; row < height; row++)
            png_read_row(png, (png_bytep)(picture->pixels + 4 * width * row), NULL);
    png_read_end(png, NULL);
}

/* Reads the file. `words` receives the reason of a failure. */
static bool read_stream(FILE *file, struct picture *picture, char words[128])
{
    png_structp png =
        png_create_read_struct(PNG_LIBPNG_VER_STRING, words, keep_message, ignore_words);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        png_destroy_read_struct(&png, NULL, NULL);
        snprintf(words, 128, "not enough memory");
        return false;
    }
    if (setjmp(png_jmpbuf(png))) {
        png_destroy_read_struct(&png, &info, NULL);
        return false;
    }
    read_rows(png, info, file, picture);
    png_destroy_read_struct(&png, &info, NULL);
    return true;
}

static bool has_colour(const struct picture *picture)
{
    const size_t count = (size_t)picture->width * (size_t)picture->height;
    for (const uint16_t *p = picture->pixels, *end = p + 4 * count; p < end; p += 4)
        if (p[0] != p[1] || p[1] != p[2])
            return true;
    return false;
}

bool png_file_read(const char *path, struct picture *picture)
{
    *picture = (struct picture){0};
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "%s cannot be opened: %s\n", path, strerror(errno));
        return false;
    }
    char words[128] = "";
    const bool done = read_stream(file, picture, words);
    fclose(file);
    if (!done) {
        fprintf(stderr, "%s cannot be read as a PNG file: %s\n", path, words);
        picture_free(picture);
        return false;
    }
    picture->coloured = has_colour(picture);
    return true;
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
