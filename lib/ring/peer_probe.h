/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Polls whether a timeline semaphore that another process signals has reached a value. */
#ifndef GR_LIB_RING_PEER_PROBE_H
#define GR_LIB_RING_PEER_PROBE_H

#include "lib/sync/semaphore.h"

/*
 * Uses a wait on its own stream between two events. Once the first event has passed, only the
 * semaphore can delay the second: other GPU work is not mistaken for a missing signal.
 */
struct gr_peer_probe {
    uint64_t value; /* 0: no query is open */
    unsigned looks; /* since the first event passed */
    CUstream stream;
    CUevent before, after;
};

enum gr_peer_result {
    GR_PEER_UNKNOWN, /* too early to say, or no query is open */
    GR_PEER_HAS,     /* and the query is closed */
    GR_PEER_LACKS    /* the signal may still come */
};

/*
 * All three need a current CUDA context. gr_peer_probe_query() abandons an open query. After an
 * error, which is recorded, no query is open.
 */
gr_status gr_peer_probe_query(struct gr_peer_probe *probe, gr_semaphore *semaphore, uint64_t value);
enum gr_peer_result gr_peer_probe_poll(struct gr_peer_probe *probe);
void gr_peer_probe_end(struct gr_peer_probe *probe);

#endif
