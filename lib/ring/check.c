/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The checks of arguments that several calls of rings make, and a resource that stands for all. */
#include "lib/ring/ring.h"

#include "lib/base/error.h"
#include "lib/base/live_objects.h"

gr_status gr_ring_check(const gr_ring *ring)
{
    if (ring)
        return gr_live_check(GR_LIVE_RING, ring);
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "The ring is NULL: did gr_ring_create() fail? Call gr_last_error() right after "
                   "that call for the reason.");
}

gr_status gr_ring_check_role(gr_ring_role role)
{
    if (role == GR_RING_PRODUCER || role == GR_RING_CONSUMER)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE, "`role` is %d: pass GR_RING_PRODUCER or GR_RING_CONSUMER.",
                   (int)role);
}

gr_resource *gr_ring_any_resource(const gr_ring *ring)
{
    uint32_t i = 0;
    while (!gr_ring_state_stays(&ring->state, i))
        i++;
    return ring->state.slots[i].api.resource;
}
