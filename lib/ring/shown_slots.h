/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The slots that the application sees. Pointers to them stay valid until the ring is freed, even
 * when a resize moves the arrays of the ring. Pointers are looked up without being dereferenced.
 */
#ifndef GR_LIB_RING_SHOWN_SLOTS_H
#define GR_LIB_RING_SHOWN_SLOTS_H

#include <stdbool.h>

#include <grinterop/ring.h>

/* The slots for a range of places; a place is an index in the state of the ring. */
struct gr_shown_slots {
    struct gr_shown_slots *next;
    uint32_t first, count;
    gr_slot slots[];
};

/*
 * Adds slots at the front of the list, for the `count` places that begin with `first`. False: out
 * of memory.
 */
bool gr_shown_slots_add(struct gr_shown_slots **list, uint32_t first, uint32_t count);
void gr_shown_slots_free(struct gr_shown_slots *list);

/* Returns the slot of a place, which must be in the list. */
gr_slot *gr_shown_slot(struct gr_shown_slots *list, uint32_t place);

/*
 * Returns the place of a slot. `slot` may be any pointer; if it is not in the list, the result is
 * UINT32_MAX.
 */
uint32_t gr_shown_slots_find(const struct gr_shown_slots *list, const gr_slot *slot);

#endif
