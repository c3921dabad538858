/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Output files of a program. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Turns name.png into name-0001.png. False, with a message, if the name does not fit. */
bool output_numbered(char *path, size_t size, const char *output, int number);

/* Allocates the RGB bytes of a picture. NULL, with a message, if memory runs out. */
unsigned char *output_pixels(int width, int height);

/* Prints the full path and the size of a picture. */
void output_report(const char *path, int width, int height);

/* Writes a picture and reports it. False after an error, which has been printed. */
bool output_picture(const char *path, int width, int height, const unsigned char *pixels);

struct output_sequence {
    const char *output;
    int width, height;
    int frames;  /* the number of pictures; 0 means one picture with an unnumbered name */
    double time; /* the time of the first picture, in seconds; the others follow at 30 per second */
};

/*
 * Calls `draw` for each picture with the picture's time and path, and reports the first and the
 * last picture. False after an error, which has been printed.
 */
bool output_sequence(const struct output_sequence *sequence,
                     bool (*draw)(void *user, float time, const char *path), void *user);

/*
 * Checks in advance that a picture can be written. False, with a message, if its directory is
 * missing or not writable, or if the path is a directory.
 */
bool output_is_writable(const char *output);

/*
 * Checks that the output is not the input. False, with a message, if the output would overwrite the
 * input.
 */
bool output_differs_from_input(const char *output, const char *input);

#endif
