/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values on a command line, checked.
 */
#define _POSIX_C_SOURCE 200809L
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SMALLEST_PICTURE = 16, LARGEST_PICTURE = 16384 };

/*
 * A whole number within the limits, up to the character `end`, which is passed. NULL if it is not.
 */
static const char *parse_int(const char *text, char end, int least, int most, int *value)
{
    char *rest;
    errno = 0;
    const long number = strtol(text, &rest, 10);
    if (rest == text || *rest != end || errno != 0 || number < least || number > most)
        return NULL;
    *value = (int)number;
    return rest + (end != '\0');
}

bool option_int(const char *option, const char *text, int least, int most, int *value)
{
    if (parse_int(text, '\0', least, most, value))
        return true;
    fprintf(stderr, "%s takes a whole number from %d to %d, not \"%s\".\n", option, least, most,
            text);
    return false;
}

bool option_float(const char *option, const char *text, float least, float most, float *value)
{
    char *rest;
    const float number = strtof(text, &rest);
    if (rest != text && *rest == '\0' && number >= least && number <= most) {
        *value = number;
        return true;
    }
    fprintf(stderr, "%s takes a number from %g to %g, not \"%s\".\n", option, (double)least,
            (double)most, text);
    return false;
}

bool option_size(const char *option, const char *text, int *width, int *height)
{
    int w = 0, h = 0;
    const char *rest = parse_int(text, 'x', SMALLEST_PICTURE, LARGEST_PICTURE, &w);
    if (rest && parse_int(rest, '\0', SMALLEST_PICTURE, LARGEST_PICTURE, &h)) {
        *width = w;
        *height = h;
        return true;
    }
    fprintf(stderr, "%s takes WIDTHxHEIGHT, each from %d to %d, such as 1280x720, not \"%s\".\n",
            option, SMALLEST_PICTURE, LARGEST_PICTURE, text);
    return false;
}

int options_end(const char *program, int argc, char **argv, bool fine)
{
    if (fine && optind < argc) {
        fprintf(stderr, "%s takes options only, not \"%s\".\n", program, argv[optind]);
        fine = false;
    }
    if (fine)
        return -1;
    fprintf(stderr, "Try %s --help.\n", program);
    return 2;
}
