/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Queries whether a timeline semaphore that another process signals has reached a value. */
#ifndef GR_LIB_RING_LINK_PROBE_H
#define GR_LIB_RING_LINK_PROBE_H

#include "lib/sync/sync.h"

/*
 * A query puts a wait for the semaphore into its own stream, between two events. Once the first
 * event has passed, only the semaphore can delay the second event. So other GPU work is not
 * mistaken for a missing signal.
 */
struct gr_peer_probe {
    uint64_t value; /* 0: no query is open */
    unsigned looks; /* the number of polls since the first event passed */
    CUstream stream;
    CUevent before, after;
};

enum gr_peer_result {
    GR_PEER_UNKNOWN, /* no result yet, or no query is open */
    GR_PEER_HAS,     /* the semaphore has reached the value, and the query is closed */
    GR_PEER_LACKS    /* the semaphore has not reached the value, but may still do so */
};

/*
 * All three functions need a current CUDA context. gr_peer_probe_query() abandons an open query.
 * After an error, which is recorded, no query is open.
 */
gr_status gr_peer_probe_query(struct gr_peer_probe *probe, gr_semaphore *semaphore, uint64_t value);
enum gr_peer_result gr_peer_probe_poll(struct gr_peer_probe *probe);
void gr_peer_probe_end(struct gr_peer_probe *probe);

#endif
