/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the table, a line for each cell, as soon as it was measured. */
#include "bench/scale/scale.h"

void scale_print_head(unsigned size)
{
    printf("\n%s each; microseconds each, KiB of the device's memory each\n",
           scale_size_text[size]);
    printf("%-8s %7s %10s %9s %9s %9s %9s %9s %9s\n", "kind", "number", "first", "create", "map",
           "release", "free", "KiB", "frame");
}

void scale_print(const char *kind, const struct scale_cell *cell)
{
    const double values[] = {cell->first_us, cell->create_us,     cell->map_us,  cell->release_us,
                             cell->free_us,  cell->memory / 1024, cell->frame_us};
    printf("%-8s %7u", kind, cell->count);
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        char text[32];
        printf(i == 0 ? " %10s" : " %9s", bench_number(text, values[i]));
    }
    printf("%s%s\n", cell->why[0] ? "  " : "", cell->why);
    fflush(stdout);
}
