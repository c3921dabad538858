/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Tracks the free bytes of memory that several buffers share. */
#ifndef GR_LIB_EXTERNAL_RANGES_H
#define GR_LIB_EXTERNAL_RANGES_H

#include <stdbool.h>
#include <stddef.h>

struct gr_range {
    size_t offset, size;
};

/* The free ranges, ordered by offset. No two of them are adjacent. */
struct gr_ranges {
    struct gr_range *free;
    size_t count, room;
    size_t taken; /* the number of ranges taken so far */
};

/* Marks all bytes as free. False if malloc() fails. */
bool gr_ranges_init(struct gr_ranges *ranges, size_t size);
void gr_ranges_end(struct gr_ranges *ranges);

/*
 * Takes `size` bytes from the first free range that is large enough. False if there is none, or if
 * malloc() fails. If all sizes are multiples of a number, all offsets are multiples of it, too.
 */
bool gr_ranges_take(struct gr_ranges *ranges, size_t size, size_t *offset);

/* Frees bytes that gr_ranges_take() returned. Cannot fail. */
void gr_ranges_give(struct gr_ranges *ranges, size_t offset, size_t size);

#endif
