/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Output files of a program. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Turns name.png into name-0001.png. False, with a message, if it does not fit. */
bool output_numbered(char *path, size_t size, const char *output, int number);

/* Allocates the RGB bytes of a picture. NULL, with a message, if out of memory. */
unsigned char *output_pixels(int width, int height);

/* Prints the full path and the size of a picture. */
void output_report(const char *path, int width, int height);

/*
 * Checks in advance that a picture can be written; false, with a message, if its directory is
 * missing or not writable, or if the path is a directory.
 */
bool output_is_writable(const char *output);

/* False, with a message, if the output would overwrite the input. */
bool output_differs_from_input(const char *output, const char *input);

#endif
