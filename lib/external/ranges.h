/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Which bytes of a memory are free, where several buffers lie in it: numbers only. */
#ifndef GR_LIB_EXTERNAL_RANGES_H
#define GR_LIB_EXTERNAL_RANGES_H

#include <stdbool.h>
#include <stddef.h>

struct gr_range {
    size_t offset, size;
};

/* The free ranges in the order of their offsets, of which no two touch. */
struct gr_ranges {
    struct gr_range *free;
    size_t count, room;
    size_t taken; /* how many have been taken */
};

/* All of it free; false if there is no memory. */
bool gr_ranges_init(struct gr_ranges *ranges, size_t size);
void gr_ranges_end(struct gr_ranges *ranges);

/*
 * Takes `size` bytes from the first place that has them. False: there is none, or no memory. What
 * is a multiple of a number each time begins at one, too.
 */
bool gr_ranges_take(struct gr_ranges *ranges, size_t size, size_t *offset);

/* Gives back what was taken, which cannot fail. */
void gr_ranges_give(struct gr_ranges *ranges, size_t offset, size_t size);

#endif
