/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads tests/image/formats-h200.txt: the results of the NVIDIA driver for every format and target.
 * The head of the file explains how the results were measured and what the columns mean.
 */
#ifndef GR_TESTS_FORMAT_TABLE_H
#define GR_TESTS_FORMAT_TABLE_H

#include <cuda.h>

#include "support_image.h"

/* What the table says about a target. Sizes are as in CUDA_ARRAY3D_DESCRIPTOR. */
struct target_facts {
    bool taken; /* the file has a line for the target */
    char array[24], mipmapped[24], level1[24];
    unsigned levels, layers, flags;
};

/* The entry of a format in the column of a target: "uint8x4", "no", "gl". */
struct format_cell {
    char text[16];
};

/* Reads the table on the first call. The case fails if the file is missing or malformed. */
void format_table_read(void);

const struct target_facts *format_table_target(const struct image_target *target);
const char *format_table_cell(const struct image_format *format, const struct image_target *target);

/* The entry that the table has for an array with this type and number of channels. */
struct format_cell format_cell_of(CUarray_format format, unsigned channels);

#endif
