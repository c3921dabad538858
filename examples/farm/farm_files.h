/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The files of a farm: finds existing files and writes new files atomically.
 *
 * OUT/00001/frame-00001234.png is frame 1234. Directories have a thousand frames each, since file
 * systems slow down with a million files in one directory. Until a file is complete its name is
 * OUT/00001/.frame-00001234.HOST.PID.part.
 */
#ifndef FARM_FILES_H
#define FARM_FILES_H

#include <stdbool.h>
#include <stddef.h>

struct farm_files {
    const char *out; /* the output directory */
    int first, count;
    int lock; /* the descriptor of the lock file, or -1 */
};

/*
 * One rank calls this before the others begin. Creates the directory and locks the frames in
 * OUT/.farm.lock, which remains after the job. A second job with any of these frames is refused.
 * False after an error, which has been printed.
 */
bool farm_files_open(struct farm_files *files);

/* The rank that called farm_files_open() calls this at the end. */
void farm_files_close(struct farm_files *files);

/* The number of directories that hold the frames. */
int farm_files_folders(const struct farm_files *files);

/*
 * Creates one of the directories, sets the bit of each frame that has a complete file, and removes
 * temporary files of earlier jobs. Bit 0 is the first frame. False after an error, which has been
 * printed.
 */
bool farm_files_scan(const struct farm_files *files, int folder, unsigned char *bits);

/*
 * Writes one picture of 3 bytes per pixel with the top row first. *bytes receives the size of the
 * file. False after an error, which has been printed.
 */
bool farm_files_write(const struct farm_files *files, int frame, int width, int height,
                      const unsigned char *pixels, size_t *bytes);

#endif
