/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writer threads. Each thread takes a picture, adds it to the checksum and compresses it into its
 * file, while the next pictures are drawn.
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
    /* the checksum of all pictures and their frame numbers; the order has no effect */
    uint64_t checksum;
    uint64_t bytes; /* the total size of the files */
};

/*
 * Starts the threads. If `files` is NULL, they write no files. NULL after an error, which has been
 * printed.
 */
struct farm_writers *farm_writers_open(const struct farm_files *files, int width, int height,
                                       int threads);

/*
 * Passes one picture to the threads: 4 bytes per pixel, the bottom row first. *busy is true until
 * its pixels have been read; see farm_writers_wait(). At most 64 pictures may be busy.
 */
void farm_writers_put(struct farm_writers *writers, int frame, const unsigned char *pixels,
                      bool *busy);

/*
 * Waits until the pixels of a picture may be overwritten; NULL as `busy` waits for all pictures.
 * False if a picture could not be written; the error has been printed.
 */
bool farm_writers_wait(struct farm_writers *writers, const bool *busy);

struct farm_written farm_writers_written(struct farm_writers *writers);

/* Ends the threads. Pictures not yet begun are not written. Accepts NULL. */
void farm_writers_close(struct farm_writers *writers);

#endif
