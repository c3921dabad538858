/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Ends contexts whose streams wait for another process, which may have died. */
#ifndef GR_SOFTCUDA_DRIVER_PEER_WAIT_H
#define GR_SOFTCUDA_DRIVER_PEER_WAIT_H

#include "softcuda/driver/stream/scheduler.h"

#include <time.h>

/*
 * Whether a wait must end without success. The destruction of a context waits for the context's
 * work, but must not hang because a peer has died. The context then gets an error, so that its
 * other waits end at once. *since is the time when the destruction was noticed, 0 before that.
 * `what` is for the log.
 */
bool soft_peer_wait_gives_up(soft_context *context, time_t *since, const char *what);

#endif
