/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_png: how far two pictures are apart, for example those of a GPU and of the software
 * driver.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include <grinterop/gr.h>

#include "options.h"
#include "png_file.h"

/* Differences of red, green, blue and alpha, in steps of 8 bit colour. */
struct difference {
    double largest, mean;
    /* of the pixels in which some value differs by more than the tolerance, in percent */
    double share;
};

/* A limit below 0 is none. */
struct options {
    float largest, mean, share;
    float tolerance;
};

static struct difference compare(const struct picture *a, const struct picture *b, double tolerance)
{
    const size_t count = (size_t)a->width * (size_t)a->height;
    size_t differing = 0;
    double sum = 0.0;
    struct difference d = {0};
    for (size_t pixel = 0; pixel < count; pixel++) {
        double worst = 0.0;
        for (size_t i = 4 * pixel; i < 4 * pixel + 4; i++) {
            const double step = abs((int)a->pixels[i] - (int)b->pixels[i]) / 257.0;
            sum += step;
            worst = step > worst ? step : worst;
        }
        differing += worst > tolerance;
        d.largest = worst > d.largest ? worst : d.largest;
    }
    d.mean = sum / (4.0 * (double)count);
    d.share = 100.0 * (double)differing / (double)count;
    return d;
}

static bool within(const char *what, double value, float limit)
{
    if (limit < 0.0f || value <= (double)limit)
        return true;
    printf("%s is more than %g\n", what, (double)limit);
    return false;
}

static bool judge(const struct picture *a, const struct picture *b, const struct options *o)
{
    if (a->width != b->width || a->height != b->height) {
        printf("the sizes differ: %dx%d and %dx%d\n", a->width, a->height, b->width, b->height);
        return false;
    }
    const struct difference d = compare(a, b, (double)o->tolerance);
    printf("largest difference %g, mean %.4f, %.3f %% of the pixels differ by more than %g\n",
           d.largest, d.mean, d.share, (double)o->tolerance);
    const bool largest = within("the largest difference", d.largest, o->largest);
    const bool mean = within("the mean difference", d.mean, o->mean);
    const bool share = within("the share of differing pixels", d.share, o->share);
    return largest && mean && share;
}

static void print_help(FILE *stream)
{
    fputs("Usage: compare_png [OPTION]... ONE.png OTHER.png\n"
          "Prints how far two pictures are apart, in steps of 8 bit colour (0 to 255).\n"
          "\n"
          "  --max STEPS         fail if any value differs by more\n"
          "  --mean STEPS        fail if the values differ by more in the mean\n"
          "  --share PERCENT     fail if more of the pixels differ\n"
          "  --tolerance STEPS   differences up to this do not count for the share (default 0)\n"
          "  --help, --version\n"
          "\n"
          "Exit status: 0 within the limits, 1 beyond them or of different size, 2 could not "
          "compare.\n",
          stream);
}

/* The exit status where the program is to end at once, else -1. */
static int parse(int argc, char **argv, struct options *options)
{
    static const struct option names[] = {
        {"max", required_argument, NULL, 'm'},
        {"mean", required_argument, NULL, 'e'},
        {"share", required_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},
        {"tolerance", required_argument, NULL, 't'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    bool fine = true;
    for (int c; fine && (c = getopt_long(argc, argv, "hV", names, NULL)) != -1;) {
        if (c == 'm')
            fine = option_float("--max", optarg, 0.0f, 255.0f, &options->largest);
        else if (c == 'e')
            fine = option_float("--mean", optarg, 0.0f, 255.0f, &options->mean);
        else if (c == 's')
            fine = option_float("--share", optarg, 0.0f, 100.0f, &options->share);
        else if (c == 't')
            fine = option_float("--tolerance", optarg, 0.0f, 255.0f, &options->tolerance);
        else if (c == 'h')
            return print_help(stdout), 0;
        else if (c == 'V')
            return printf("compare_png (grinterop) %s\n", gr_library_version()), 0;
        else
            fine = false;
    }
    if (fine && optind + 2 == argc)
        return -1;
    if (fine)
        print_help(stderr);
    else
        fprintf(stderr, "Try compare_png --help.\n");
    return 2;
}

int main(int argc, char **argv)
{
    struct options options = {.largest = -1.0f, .mean = -1.0f, .share = -1.0f};
    int status = parse(argc, argv, &options);
    if (status >= 0)
        return status;

    struct picture one = {0}, other = {0};
    status = 2;
    if (png_file_read(argv[optind], &one) && png_file_read(argv[optind + 1], &other))
        status = judge(&one, &other, &options) ? 0 : 1;
    picture_free(&one);
    picture_free(&other);
    return status;
}
