/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * compare_png: measures how much two pictures differ, for example one from a GPU and one from the
 * software driver.
 *
 *     build/examples/support/compare_png one.png other.png   prints the difference; see --help
 *
 * Files named .ppm are read as PPM.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "png_file.h"
#include "ppm_file.h"
#include "tools/options.h"

/* Differences of red, green, blue and alpha, in steps of 8 bit colour. */
struct difference {
    double largest, mean;
    /* the percentage of pixels in which some value differs by more than the tolerance */
    double share;
};

/* Limits of the differences. A limit below 0 is not checked. */
struct options {
    double largest, mean, share;
    double tolerance;
    const char *one, *other;
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
            const double step = abs(a->pixels[i] - b->pixels[i]);
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

static bool within(const char *what, double value, double limit)
{
    if (limit < 0.0 || value <= limit)
        return true;
    printf("%s is more than %g\n", what, limit);
    return false;
}

static bool judge(const struct picture *a, const struct picture *b, const struct options *o)
{
    if (a->width != b->width || a->height != b->height) {
        printf("the sizes differ: %dx%d and %dx%d\n", a->width, a->height, b->width, b->height);
        return false;
    }
    const struct difference d = compare(a, b, o->tolerance);
    printf("largest difference %g, mean %.4f, %.3f %% of the pixels differ by more than %g\n",
           d.largest, d.mean, d.share, o->tolerance);
    const bool largest = within("the largest difference", d.largest, o->largest);
    const bool mean = within("the mean difference", d.mean, o->mean);
    const bool share = within("the share of differing pixels", d.share, o->share);
    return largest && mean && share;
}

static void read_options(int argc, char **argv, struct options *o)
{
    const struct option_row rows[] = {
        {"max", 0, "STEPS", "fail if any value differs by more", .real = {&o->largest, 0, 255}},
        {"mean", 0, "STEPS", "fail if the mean difference is larger", .real = {&o->mean, 0, 255}},
        {"share", 0, "PERCENT", "fail if more pixels differ", .real = {&o->share, 0, 100}},
        {"tolerance", 0, "STEPS", "differences up to this do not count towards the share",
         .real = {&o->tolerance, 0, 255}},
        {"ONE.png", .operand = &o->one},
        {"OTHER.png", .operand = &o->other},
        {0},
    };
    options_read(
        argc, argv, "compare_png", rows,
        "Prints how much two pictures differ, in steps of 8 bit colour (0 to 255).",
        "Exit status: 0 within the limits, 1 beyond them or different sizes, 2 could not compare.");
}

static bool read_picture(const char *path, struct picture *picture)
{
    const char *dot = strrchr(path, '.');
    return dot && !strcmp(dot, ".ppm") ? ppm_file_read(path, picture)
                                       : png_file_read(path, picture);
}

int main(int argc, char **argv)
{
    struct options options = {.largest = -1.0, .mean = -1.0, .share = -1.0};
    read_options(argc, argv, &options);

    struct picture one = {0}, other = {0};
    int status = 2;
    if (read_picture(options.one, &one) && read_picture(options.other, &other))
        status = judge(&one, &other, &options) ? 0 : 1;
    picture_free(&one);
    picture_free(&other);
    return status;
}
