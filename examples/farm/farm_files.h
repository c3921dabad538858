/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a farm: finds existing ones and writes new ones completely or not at all.
 *
 * OUT/00001/frame-00001234.png is frame 1234. Folders have a thousand frames each, since file
 * systems slow down where one folder has a million files. A file gets its name only when it is
 * complete; until then it is OUT/00001/.frame-00001234.HOST.PID.part.
 */
#ifndef FARM_FILES_H
#define FARM_FILES_H

#include <stdbool.h>
#include <stddef.h>

struct farm_files {
    const char *out; /* the folder of all */
    int first, count;
    int lock; /* a descriptor, or -1 */
};

/*
 * By one rank, before the others begin: makes the folder, and takes hold of the frames in it, by
 * OUT/.farm.lock, which stays there: a second job with any of them is refused. False after an
 * error, which has been printed.
 */
bool farm_files_open(struct farm_files *files);

/* By the same rank, in the end. */
void farm_files_close(struct farm_files *files);

/* How many folders the frames are in. */
int farm_files_folders(const struct farm_files *files);

/*
 * Makes one of the folders, sets the bit of each of its frames that is there with its end, counted
 * from the first, and removes what an earlier job left unfinished. False after an error, which has
 * been printed.
 */
bool farm_files_scan(const struct farm_files *files, int folder, unsigned char *bits);

/*
 * Writes one picture, of 3 bytes a pixel with the top row first. *bytes: the file's size. False
 * after an error, which has been printed.
 */
bool farm_files_write(const struct farm_files *files, int frame, int width, int height,
                      const unsigned char *pixels, size_t *bytes);

#endif
