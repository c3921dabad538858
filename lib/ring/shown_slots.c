/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The slots that the application sees. */
#include "lib/ring/shown_slots.h"

#include <stdlib.h>

bool gr_shown_slots_add(struct gr_shown_slots **list, uint32_t first, uint32_t count)
{
    struct gr_shown_slots *made = calloc(1, sizeof(*made) + count * sizeof(gr_slot));
    if (!made)
        return false;
    made->next = *list;
    made->first = first;
    made->count = count;
    *list = made;
    return true;
}

void gr_shown_slots_free(struct gr_shown_slots *list)
{
    while (list) {
        struct gr_shown_slots *next = list->next;
        free(list);
        list = next;
    }
}

gr_slot *gr_shown_slot(struct gr_shown_slots *list, uint32_t place)
{
    while (place < list->first)
        list = list->next;
    return &list->slots[place - list->first];
}

uint32_t gr_shown_slots_find(const struct gr_shown_slots *list, const gr_slot *slot)
{
    for (; list; list = list->next) {
        uintptr_t from = (uintptr_t)list->slots, at = (uintptr_t)slot;
        if (at < from || (at - from) / sizeof(gr_slot) >= list->count)
            continue;
        return (at - from) % sizeof(gr_slot)
                   ? UINT32_MAX
                   : list->first + (uint32_t)((at - from) / sizeof(gr_slot));
    }
    return UINT32_MAX;
}
