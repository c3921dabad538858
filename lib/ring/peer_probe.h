/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a timeline semaphore that another process signals has a value, asked without a wait. */
#ifndef GR_LIB_RING_PEER_PROBE_H
#define GR_LIB_RING_PEER_PROBE_H

#include "lib/sync/semaphore.h"

/*
 * A wait on a stream of its own, between two events. Once the first has passed, nothing but the
 * semaphore holds up the second: other work of the GPU does not look like a missing signal.
 */
struct gr_peer_probe {
    uint64_t value; /* 0: nothing is asked */
    unsigned looks; /* since the first event has passed */
    CUstream stream;
    CUevent before, after;
};

enum gr_peer_answer {
    GR_PEER_UNKNOWN, /* not asked for long enough, or not at all */
    GR_PEER_HAS,     /* which ends the question */
    GR_PEER_LACKS    /* it may still come */
};

/*
 * For all of them the CUDA context is current. A question that is open is given up; after an error,
 * which is recorded, nothing is asked.
 */
gr_status gr_peer_probe_ask(struct gr_peer_probe *probe, gr_semaphore *semaphore, uint64_t value);
enum gr_peer_answer gr_peer_probe_look(struct gr_peer_probe *probe);
void gr_peer_probe_end(struct gr_peer_probe *probe);

#endif
