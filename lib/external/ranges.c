/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The free ranges of a memory block, in a sorted array. Adjacent ranges are merged at once. */
#include "lib/external/ranges.h"

#include <stdlib.h>
#include <string.h>

/* Reserves room in the array: if n ranges are taken, at most n + 1 are free. */
static bool reserve(struct gr_ranges *ranges, size_t taken)
{
    if (taken < ranges->room)
        return true;
    size_t room = 2 * taken + 16;
    struct gr_range *larger = realloc(ranges->free, room * sizeof(*larger));
    if (!larger)
        return false;
    ranges->free = larger;
    ranges->room = room;
    return true;
}

bool gr_ranges_init(struct gr_ranges *ranges, size_t size)
{
    *ranges = (struct gr_ranges){0};
    if (!reserve(ranges, 0))
        return false;
    ranges->free[0] = (struct gr_range){0, size};
    ranges->count = 1;
    return true;
}

void gr_ranges_end(struct gr_ranges *ranges)
{
    free(ranges->free);
    *ranges = (struct gr_ranges){0};
}

static void remove_range(struct gr_ranges *ranges, size_t i)
{
    ranges->count--;
    memmove(&ranges->free[i], &ranges->free[i + 1], (ranges->count - i) * sizeof(*ranges->free));
}

bool gr_ranges_take(struct gr_ranges *ranges, size_t size, size_t *offset)
{
    size_t i = 0;
    while (i < ranges->count && ranges->free[i].size < size)
        i++;
    if (i == ranges->count || !reserve(ranges, ranges->taken + 1))
        return false;
    *offset = ranges->free[i].offset;
    ranges->free[i].offset += size;
    ranges->free[i].size -= size;
    if (ranges->free[i].size == 0)
        remove_range(ranges, i);
    ranges->taken++;
    return true;
}

void gr_ranges_give(struct gr_ranges *ranges, size_t offset, size_t size)
{
    size_t i = 0;
    while (i < ranges->count && ranges->free[i].offset < offset)
        i++;
    struct gr_range *at = &ranges->free[i];
    bool joins_before = i > 0 && at[-1].offset + at[-1].size == offset;
    bool joins_next = i < ranges->count && at->offset == offset + size;
    ranges->taken--;
    if (joins_before) {
        at[-1].size += size + (joins_next ? at->size : 0);
        if (joins_next)
            remove_range(ranges, i);
    } else if (joins_next) {
        at->offset = offset;
        at->size += size;
    } else {
        memmove(at + 1, at, (ranges->count - i) * sizeof(*at));
        *at = (struct gr_range){offset, size};
        ranges->count++;
    }
}
