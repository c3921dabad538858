/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* PPM files, the simplest picture format. */
#ifndef PPM_FILE_H
#define PPM_FILE_H

#include "png_file.h"

/*
 * Reads a PPM file of bytes (P6, up to 255) without comments, as most programs write it. On
 * failure, prints the reason and returns false.
 */
bool ppm_file_read(const char *path, struct picture *picture);

#endif
