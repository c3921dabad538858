/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/image/formats-h200.txt: what NVIDIA's driver made of every format and target. Its top
 * says how it came about and what the columns are.
 */
#ifndef GR_TESTS_FORMAT_TABLE_H
#define GR_TESTS_FORMAT_TABLE_H

#include "support_image.h"

/* A target's line: sizes as in CUDA_ARRAY3D_DESCRIPTOR. */
struct target_facts {
    bool taken; /* there is such a line */
    char array[24], mipmapped[24], level1[24];
    unsigned levels, layers, flags;
};

/* A format's entry under a target: "uint8x4", "no", "gl". */
struct format_cell {
    char text[16];
};

/* Reads the file, once; a case fails if it is not there or not as expected. */
void format_table_read(void);

const struct target_facts *format_table_target(const struct image_target *target);
const char *format_table_cell(const struct image_format *format, const struct image_target *target);

/* The entry for an array of this type and so many channels. */
struct format_cell format_cell_of(CUarray_format format, unsigned channels);

#endif
