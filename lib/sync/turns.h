/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Frames in flight: staging buffers that take turns, and the values after the last use of each. The
 * backend owns the struct, and notes the uses.
 */
#ifndef GR_LIB_SYNC_TURNS_H
#define GR_LIB_SYNC_TURNS_H

#include "lib/resource/resource_types.h"
#include "lib/sync/sync.h"

struct gr_turns {
    unsigned count, at; /* the number of staging buffers, and the newest one */
    struct gr_turn {
        uint64_t drawn, computed; /* as in struct gr_sync */
    } of[GR_MOST_IN_FLIGHT];
};

/* The staging buffer that is used next, which was used longest ago. */
static inline unsigned gr_turns_next(const struct gr_turns *turns)
{
    return turns->at + 1 < turns->count ? turns->at + 1 : 0;
}

/* Forgets the values, because they are those of other semaphores. NULL is allowed. */
static inline void gr_turns_forget(struct gr_turns *turns)
{
    for (unsigned i = 0; turns && i < turns->count; i++)
        turns->of[i] = (struct gr_turn){0};
}

/*
 * The value of `release` that the graphics API waits for before it uses the resource; 0: none. If
 * CUDA only reads, the graphics API next gets the staging buffer that CUDA read longest ago.
 */
static inline uint64_t gr_sync_awaited(const gr_resource *resource)
{
    const struct gr_sync *sync = &resource->sync;
    return sync->turns && resource->flags & GR_READ_ONLY && sync->release && sync->release->timeline
               ? sync->turns->of[gr_turns_next(sync->turns)].computed
               : sync->computed;
}

#endif
