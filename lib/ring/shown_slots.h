/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slots that the application is shown: pointers that stay good until the ring is freed, also
 * when a resize moves the ring's own arrays, and that are known again without being followed.
 */
#ifndef GR_LIB_RING_SHOWN_SLOTS_H
#define GR_LIB_RING_SHOWN_SLOTS_H

#include <stdbool.h>

#include <grinterop/ring.h>

/* The slots of some neighbouring places. */
struct gr_shown_slots {
    struct gr_shown_slots *next;
    uint32_t first, count;
    gr_slot slots[];
};

/* Makes those of the places from `first` on, and puts them in front of the list. False: no memory.
 */
bool gr_shown_slots_add(struct gr_shown_slots **list, uint32_t first, uint32_t count);
void gr_shown_slots_free(struct gr_shown_slots *list);

/* The slot of a place that has one. */
gr_slot *gr_shown_slot(struct gr_shown_slots *list, uint32_t place);

/* The place of a pointer that may be none of ours; then UINT32_MAX. */
uint32_t gr_shown_slots_find(const struct gr_shown_slots *list, const gr_slot *slot);

#endif
