/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Ends waits of streams for another process, which may have died. */
#ifndef GR_SOFTCUDA_DRIVER_PEER_WAIT_H
#define GR_SOFTCUDA_DRIVER_PEER_WAIT_H

#include "softcuda/driver/stream/scheduler.h"

#include <time.h>

/*
 * Whether a wait of a stream for another process must give up. As on a GPU, it does if earlier work
 * in the context has failed. The destruction of a context waits for the work of its streams, but
 * must not hang because the other process has died. So a wait gives up some seconds after it has
 * noticed the destruction. The context then gets an error, too. *since is the time when this wait
 * noticed the destruction, 0 before that. `what` is for the log.
 */
bool soft_peer_wait_gives_up(soft_context *context, time_t *since, const char *what);

#endif
