/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of resources that are made for it alone. */
#ifndef INFO_MAKE_RING_H
#define INFO_MAKE_RING_H

#include <stddef.h>

#include <grinterop/ring.h>

enum { MAKE_RING_MOST = 16 };

/*
 * A ring of so many slots, at most MAKE_RING_MOST: `make`, which gets `its`, makes the resource of
 * each. NULL after grinterop's error, which gr_last_error() tells.
 */
gr_ring *make_ring(size_t slots, gr_resource *(*make)(void *its), void *its);

#endif
