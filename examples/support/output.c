/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Output files of a program. */
#define _GNU_SOURCE
#include "output.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "png_file.h"

bool output_numbered(char *path, size_t size, const char *output, int number)
{
    const size_t length = strlen(output);
    const bool suffix = length > 4 && strcmp(output + length - 4, ".png") == 0;
    const int stem = (int)(suffix ? length - 4 : length);
    const int written = snprintf(path, size, "%.*s-%04d.png", stem, output, number);
    if (written >= 0 && (size_t)written < size)
        return true;
    fprintf(stderr, "The name of the output file is too long.\n");
    return false;
}

unsigned char *output_pixels(int width, int height)
{
    unsigned char *pixels = malloc(3 * (size_t)width * (size_t)height);
    if (!pixels)
        fprintf(stderr, "Not enough memory for the picture: choose a smaller --size.\n");
    return pixels;
}

void output_report(const char *path, int width, int height)
{
    char *full = realpath(path, NULL);
    printf("picture  %s, %dx%d\n", full ? full : path, width, height);
    free(full);
}

bool output_picture(const char *path, int width, int height, const unsigned char *pixels)
{
    if (!png_file_write(path, width, height, pixels))
        return false;
    output_report(path, width, height);
    return true;
}

bool output_sequence(const struct output_sequence *s,
                     bool (*draw)(void *user, float time, const char *path), void *user)
{
    char path[PATH_MAX];
    const bool progress = isatty(STDERR_FILENO) && s->frames > 0;
    const int count = s->frames > 0 ? s->frames : 1;
    for (int i = 0; i < count; i++) {
        if (progress)
            fprintf(stderr, "\rpicture %d of %d ", i + 1, count);
        if (s->frames > 0 && !output_numbered(path, sizeof(path), s->output, i + 1))
            return false;
        const char *name = s->frames > 0 ? path : s->output;
        if (!draw(user, (float)s->time + (float)i / 30.0f, name))
            return false;
        if (progress)
            fprintf(stderr, "\r%40s\r", "");
        if (i == 0 || i + 1 == count)
            output_report(name, s->width, s->height);
    }
    return true;
}

bool output_is_writable(const char *output)
{
    const char *slash = strrchr(output, '/');
    char *folder = slash ? strndup(output, (size_t)(slash - output) + 1) : strdup(".");
    struct stat there;
    int error = 0;
    if (!folder || access(folder, W_OK | X_OK) != 0)
        error = errno;
    else if (stat(output, &there) == 0 && S_ISDIR(there.st_mode))
        error = EISDIR;
    else if (access(output, W_OK) != 0 && errno != ENOENT)
        error = errno;
    free(folder);
    if (error)
        fprintf(stderr, "Cannot write %s: %s.\n", output, strerror(error));
    return !error;
}

bool output_differs_from_input(const char *output, const char *input)
{
    struct stat in, out;
    if (stat(input, &in) != 0 || stat(output, &out) != 0 || in.st_dev != out.st_dev ||
        in.st_ino != out.st_ino)
        return true;
    fprintf(stderr, "The output would overwrite the input: name another file.\n");
    return false;
}
