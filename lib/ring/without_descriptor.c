/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* For systems without eventfd, where rings cannot be polled. */
#include "lib/ring/ring.h"

#include "lib/base/error.h"

void gr_ring_update_pollers(gr_ring *ring)
{
    (void)ring;
}

void gr_ring_end_descriptors(gr_ring *ring)
{
    (void)ring;
}

int gr_ring_descriptor(gr_ring *ring, gr_ring_role role)
{
    if (gr_ring_check(ring, __func__) == GR_OK && gr_ring_check_role(role, __func__) == GR_OK)
        gr_fail(GR_ERR_UNSUPPORTED, __func__,
                "Windows has no descriptors for polling a ring: use an acquire with a timeout.");
    return -1;
}
