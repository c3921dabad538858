/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values on a command line, checked.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

/*
 * Each returns false where the option's text does not fit, prints what would and leaves the value
 * alone.
 */
bool option_int(const char *option, const char *text, int least, int most, int *value);
bool option_float(const char *option, const char *text, float least, float most, float *value);
bool option_size(const char *option, const char *text, int *width, int *height);

/*
 * After getopt_long(), for a program that takes nothing else: -1 if all was `fine` and nothing is
 * left, else the status to exit with, and --help has been pointed to.
 */
int options_end(const char *program, int argc, char **argv, bool fine);

#endif
