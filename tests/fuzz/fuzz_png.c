/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * PNG files as the examples read them. If the first byte of the input says so, the target first
 * corrects the checksum of each chunk, because libpng would refuse nearly every input.
 */
#define _GNU_SOURCE
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/support/png_file.h"

enum { SIGNATURE = 8, CHUNK = 12, MOST_LOOKED_AT = 1 << 16 };

/* ---- The file -------------------------------------------------------------------------------- */

static uint32_t sum_of(const unsigned char *bytes, size_t size)
{
    uint32_t sum = ~0u;
    for (size_t i = 0; i < size; i++) {
        sum ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
    }
    return ~sum;
}

static uint32_t get(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void put(unsigned char *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(value >> (24 - 8 * i));
}

static void fix_checksums(unsigned char *bytes, size_t size)
{
    for (size_t at = SIGNATURE; at <= size && size - at >= CHUNK;) {
        size_t length = get(bytes + at);
        if (length > size - at - CHUNK)
            return;
        put(bytes + at + 8 + length, sum_of(bytes + at + 4, length + 4));
        at += CHUNK + length;
    }
}

/* Creates a file. Returns its descriptor, which the caller closes, and its path in /proc. */
static int make_file(const void *bytes, size_t size, char path[64])
{
    int fd = fuzz_file(bytes, size, 0);
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

/* ---- The picture ----------------------------------------------------------------------------- */

/* A picture must be unchanged after it is written and read again. */
static void write_again(const struct picture *picture, size_t count)
{
    char path[64];
    struct picture again;
    unsigned char *rgb = malloc(3 * count);
    int fd = make_file("", 0, path);
    for (size_t i = 0; i < 3 * count; i++)
        rgb[i] = picture->pixels[i / 3 * 4 + i % 3];
    FUZZ_CHECK(png_file_write(path, picture->width, picture->height, rgb));
    FUZZ_CHECK(png_file_read(path, &again));
    FUZZ_CHECK(again.width == picture->width && again.height == picture->height);
    for (size_t i = 0; i < 3 * count; i++)
        FUZZ_CHECK(again.pixels[i / 3 * 4 + i % 3] == rgb[i]);
    picture_free(&again);
    close(fd);
    free(rgb);
}

static void look_at(const struct picture *picture)
{
    FUZZ_CHECK(picture->pixels && picture->width > 0 && picture->height > 0);
    size_t count = (size_t)picture->width * (size_t)picture->height;
    if (count > MOST_LOOKED_AT)
        return;
    write_again(picture, count);
}

static void run(struct fuzz_input in)
{
    char path[64];
    bool right = fuzz_byte(&in) != 'x';
    size_t size = in.left;
    unsigned char *bytes = fuzz_copy(in.at, size);
    if (right)
        fix_checksums(bytes, size);
    int fd = make_file(bytes, size, path);
    struct picture picture;
    if (png_file_read(path, &picture))
        look_at(&picture);
    else
        FUZZ_CHECK(!picture.pixels && picture.width == 0 && picture.height == 0);
    picture_free(&picture);
    close(fd);
    free(bytes);
}

const struct fuzz_target fuzz_png = {"png", NULL, run};
