/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/info/make_ring.h"

/* The ring holds its resources, and frees them in its end. */
gr_ring *make_ring(size_t slots, gr_resource *(*make)(void *its), void *its)
{
    gr_resource *resources[MAKE_RING_MOST] = {NULL};
    size_t made = 0;
    while (made < slots && (resources[made] = make(its)))
        made++;
    gr_ring *ring = made == slots ? gr_ring_create(resources, made, NULL) : NULL;
    while (made > 0)
        gr_resource_free(resources[--made]);
    return ring;
}
