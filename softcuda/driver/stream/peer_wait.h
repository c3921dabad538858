/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Ends contexts whose streams wait for another process, which may have died. */
#ifndef GR_SOFTCUDA_DRIVER_PEER_WAIT_H
#define GR_SOFTCUDA_DRIVER_PEER_WAIT_H

#include "softcuda/driver/stream/scheduler.h"

#include <time.h>

/*
 * Whether a wait must end without success: the end of a context waits for its work, but must not
 * hang on a dead peer. The context then has an error, so that its other waits end at once. *since
 * is the time when the end of the context was noticed, 0 before; `what` is for the log.
 */
bool soft_peer_wait_gives_up(soft_context *context, time_t *since, const char *what);

#endif
