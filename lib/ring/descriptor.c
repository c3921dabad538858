/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The descriptors by which an application polls a ring: one eventfd per role, whose counter is 0
 * while an acquire would block. Every change of the ring updates both counters, so the application
 * never has to read from the descriptors. A counter grows whenever there are more slots than
 * before: that is an event for a poll by EPOLLET, which can so wait for several slots.
 *
 * In a shared ring the other process changes the ring, too. Each update requests a wake-up from the
 * peer (await() of the link). The thread that receives the wake-up updates the descriptors.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/base/error.h"
#include "lib/base/lock.h"
#include "lib/ring/link/operations.h"
#include "lib/ring/ring.h"

static const struct gr_ring_side *side_of(const gr_ring *ring, unsigned i)
{
    return i == 0 ? &ring->writer : &ring->reader;
}

/* As the number of slots: an acquire returns at once with an error. */
#define ALWAYS UINT32_MAX

/* Returns how many slots an acquire by this side would get at once. */
static uint32_t available(gr_ring *ring, const struct gr_ring_side *side)
{
    GR_CALL_AS("gr_ring_descriptor");
    if (ring->is_sending)
        return ring->state.stopped ? ALWAYS : 0;
    /* before the update, so that no change is missed */
    const enum gr_link_peer peer = ring->link_ops->await(ring->link);
    if (ring->link_ops->update(ring->link, side) != GR_OK || peer == GR_LINK_PEER_GONE ||
        ring->state.stopped)
        return ALWAYS;
    return gr_ring_state_claimable(&ring->state, side->writes);
}

static void set(struct gr_ring_descriptor *descriptor, uint32_t slots)
{
    uint64_t count = 1;
    ssize_t done = 0;
    if (slots > descriptor->slots)
        done = write(descriptor->fd, &count, sizeof(count));
    else if (slots == 0 && descriptor->slots)
        done = read(descriptor->fd, &count, sizeof(count));
    /* the read fails only if a program has already read from the descriptor and emptied it */
    (void)done;
    descriptor->slots = slots;
}

void gr_ring_update_pollers(gr_ring *ring)
{
    if (!ring->is_polled)
        return;
    GR_KEEP_ERROR();
    for (unsigned i = 0; i < 2; i++)
        if (ring->descriptors[i].fd >= 0)
            set(&ring->descriptors[i], available(ring, side_of(ring, i)));
}

void gr_ring_end_descriptors(gr_ring *ring)
{
    for (unsigned i = 0; i < 2; i++) {
        if (ring->descriptors[i].fd < 0)
            continue;
        set(&ring->descriptors[i], ALWAYS); /* for polls of a copy */
        close(ring->descriptors[i].fd);
    }
}

int gr_ring_descriptor(gr_ring *ring, gr_ring_role role)
{
    GR_CALL();
    if (gr_ring_check(ring) != GR_OK || gr_ring_check_role(role) != GR_OK)
        return -1;
    GR_LOCKED(&ring->lock);
    const unsigned i = role == GR_RING_PRODUCER ? 0 : 1;
    struct gr_ring_descriptor *descriptor = &ring->descriptors[i];
    if (ring->link_ops->update(ring->link, side_of(ring, i)) == GR_ERR_STATE)
        return -1;
    if (descriptor->fd < 0)
        descriptor->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (descriptor->fd < 0) {
        gr_fail_errno(errno, "Cannot create a descriptor");
        return -1;
    }
    ring->is_polled = true;
    gr_ring_update_pollers(ring);
    return descriptor->fd;
}
