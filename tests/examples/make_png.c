/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * make_png KIND FILE: writes a hill, 48 by 32 pixels, as a PNG file of the given kind, so that the
 * examples can be tested with all kinds. For some kinds the picture is not the hill, as the name of
 * the kind says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

/*
 * How a kind of file stores a pixel: a function writes the bytes of the pixel and returns their
 * number.
 */
struct kind {
    const char *name;
    int colour_type, bits, interlace;
    int width, height;
    int (*store)(unsigned char *to, int x, int y);
};

enum { WIDTH = 48, HEIGHT = 32 };

static unsigned char hill(int x, int y)
{
    const int dx = 2 * x - (WIDTH - 1), dy = 2 * y - (HEIGHT - 1);
    const int height = 230 - (dx * dx + 2 * dy * dy) / 18;
    return (unsigned char)(height > 10 ? height : 10);
}

static int grey(unsigned char *to, int x, int y)
{
    to[0] = hill(x, y);
    return 1;
}

static int grey16(unsigned char *to, int x, int y)
{
    to[0] = to[1] = hill(x, y);
    return 2;
}

static int grey_alpha(unsigned char *to, int x, int y)
{
    to[0] = hill(x, y);
    to[1] = 255;
    return 2;
}

static int rgb(unsigned char *to, int x, int y)
{
    to[0] = to[1] = to[2] = hill(x, y);
    return 3;
}

static int rgba(unsigned char *to, int x, int y)
{
    to[3] = 255;
    return 1 + rgb(to, x, y);
}

/* The same hill in green: a picture with colours. */
static int coloured(unsigned char *to, int x, int y)
{
    to[0] = to[2] = 0;
    to[1] = hill(x, y);
    return 3;
}

static int transparent(unsigned char *to, int x, int y)
{
    rgba(to, x, y);
    to[3] = 0;
    return 4;
}

static int flat100(unsigned char *to, int x, int y)
{
    (void)x;
    (void)y;
    to[0] = 100;
    return 1;
}

/* A flat picture in which one pixel is three levels brighter. */
static int spot103(unsigned char *to, int x, int y)
{
    to[0] = x == 5 && y == 7 ? 103 : 100;
    return 1;
}

static const struct kind kinds[] = {
    {"grey", PNG_COLOR_TYPE_GRAY, 8, PNG_INTERLACE_NONE, WIDTH, HEIGHT, grey},
    {"grey16", PNG_COLOR_TYPE_GRAY, 16, PNG_INTERLACE_NONE, WIDTH, HEIGHT, grey16},
    {"grey-alpha", PNG_COLOR_TYPE_GRAY_ALPHA, 8, PNG_INTERLACE_NONE, WIDTH, HEIGHT, grey_alpha},
    {"rgb", PNG_COLOR_TYPE_RGB, 8, PNG_INTERLACE_NONE, WIDTH, HEIGHT, rgb},
    {"rgba", PNG_COLOR_TYPE_RGB_ALPHA, 8, PNG_INTERLACE_NONE, WIDTH, HEIGHT, rgba},
    {"palette", PNG_COLOR_TYPE_PALETTE, 8, PNG_INTERLACE_NONE, WIDTH, HEIGHT, grey},
    {"interlaced", PNG_COLOR_TYPE_GRAY, 8, PNG_INTERLACE_ADAM7, WIDTH, HEIGHT, grey},
    {"coloured", PNG_COLOR_TYPE_RGB, 8, PNG_INTERLACE_NONE, WIDTH, HEIGHT, coloured},
    {"transparent", PNG_COLOR_TYPE_RGB_ALPHA, 8, PNG_INTERLACE_NONE, WIDTH, HEIGHT, transparent},
    {"flat100", PNG_COLOR_TYPE_GRAY, 8, PNG_INTERLACE_NONE, WIDTH, HEIGHT, flat100},
    {"spot103", PNG_COLOR_TYPE_GRAY, 8, PNG_INTERLACE_NONE, WIDTH, HEIGHT, spot103},
    {"one-pixel", PNG_COLOR_TYPE_GRAY, 8, PNG_INTERLACE_NONE, 1, 1, grey},
    {"one-row", PNG_COLOR_TYPE_GRAY, 8, PNG_INTERLACE_NONE, WIDTH, 1, grey},
};

/*
 * The default error handling of libpng prints the error and ends the program, which suits this
 * program.
 */
static void write_png(FILE *file, const struct kind *kind)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info)
        abort();
    png_init_io(png, file);
    png_set_IHDR(png, info, (png_uint_32)kind->width, (png_uint_32)kind->height, kind->bits,
                 kind->colour_type, kind->interlace, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_color palette[256];
    for (int i = 0; i < 256; i++)
        palette[i].red = palette[i].green = palette[i].blue = (png_byte)i;
    if (kind->colour_type == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, palette, 256);
    png_write_info(png, info);

    const int passes = png_set_interlace_handling(png);
    for (int pass = 0; pass < passes; pass++) {
        for (int y = 0; y < kind->height; y++) {
            unsigned char row[4 * WIDTH], *to = row;
            for (int x = 0; x < kind->width; x++)
                to += kind->store(to, x, y);
            png_write_row(png, row);
        }
    }
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 3 && i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (strcmp(kinds[i].name, argv[1]) != 0)
            continue;
        FILE *file = fopen(argv[2], "wb");
        if (!file) {
            perror(argv[2]);
            return 1;
        }
        write_png(file, &kinds[i]);
        return fclose(file) == 0 ? 0 : 1;
    }
    fprintf(stderr, "usage: make_png KIND FILE, where KIND is one of:");
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        fprintf(stderr, " %s", kinds[i].name);
    fprintf(stderr, "\n");
    return 2;
}
