/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads tests/image/formats-h200.txt: the results of NVIDIA's driver for every format and target.
 * The head of that file says how it was made and what the columns are.
 */
#ifndef GR_TESTS_FORMAT_TABLE_H
#define GR_TESTS_FORMAT_TABLE_H

#include <cuda.h>

#include "support_image.h"

/* A target's line: sizes as in CUDA_ARRAY3D_DESCRIPTOR. */
struct target_facts {
    bool taken; /* the file has such a line */
    char array[24], mipmapped[24], level1[24];
    unsigned levels, layers, flags;
};

/* A format's entry under a target: "uint8x4", "no", "gl". */
struct format_cell {
    char text[16];
};

/* Reads the file, once. The case fails if it is missing or malformed. */
void format_table_read(void);

const struct target_facts *format_table_target(const struct image_target *target);
const char *format_table_cell(const struct image_format *format, const struct image_target *target);

/* The entry for an array with this type and number of channels. */
struct format_cell format_cell_of(CUarray_format format, unsigned channels);

#endif
