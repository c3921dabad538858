/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writer threads: each takes a picture, adds it to the checksum and compresses it into its file,
 * while the next ones are drawn.
 */
#ifndef FARM_WRITERS_H
#define FARM_WRITERS_H

#include <stdbool.h>
#include <stdint.h>

struct farm_files;
struct farm_writers;

/* The results so far. */
struct farm_written {
    int frames;
    uint64_t checksum; /* of all pictures with their numbers, independent of order */
    uint64_t bytes;    /* of the files */
};

/* `files` is NULL to write none. NULL after an error, which has been printed. */
struct farm_writers *farm_writers_open(const struct farm_files *files, int width, int height,
                                       int threads);

/*
 * Passes one picture to the threads: 4 bytes per pixel, the lowest row first. *busy is true until
 * its pixels have been read; see farm_writers_wait(). At most 64 pictures may be busy.
 */
void farm_writers_put(struct farm_writers *writers, int frame, const unsigned char *pixels,
                      bool *busy);

/* Waits until the pixels may be overwritten. False if a picture could not be written. */
bool farm_writers_wait(struct farm_writers *writers, const bool *busy);

/* Waits for all pictures. False if one could not be written, which has been printed. */
bool farm_writers_finish(struct farm_writers *writers);

struct farm_written farm_writers_written(struct farm_writers *writers);

/* Ends the threads; pictures not yet begun are not written. Accepts NULL. */
void farm_writers_close(struct farm_writers *writers);

#endif
