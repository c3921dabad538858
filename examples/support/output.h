/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the pictures that a program makes.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* name.png becomes name-0001.png. False, with a message, if that does not fit. */
bool output_numbered(char *path, size_t size, const char *output, int number);

/* Room for a picture's red, green and blue bytes. NULL, with a message, if there is none. */
unsigned char *output_pixels(int width, int height);

/* Prints where a picture lies, in full, and how large it is. */
void output_report(const char *path, int width, int height);

/*
 * Refuses, in words, a picture that cannot be written, before there is work for it. What can be
 * told beforehand is that its folder is not there or closed, or that it is one itself.
 */
bool output_can_be(const char *output);

/* Refuses, in words, to write over the picture that is read. */
bool output_spares_input(const char *output, const char *input);

#endif
