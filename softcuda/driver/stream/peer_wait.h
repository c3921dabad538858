/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a context while its streams wait for another process, which may have died. */
#ifndef GR_SOFTCUDA_DRIVER_PEER_WAIT_H
#define GR_SOFTCUDA_DRIVER_PEER_WAIT_H

#include "softcuda/driver/stream/scheduler.h"

#include <time.h>

/*
 * Whether a wait is to end although nothing has come: the end of a context waits for its work, and
 * must not hang on a peer that has died. The context then has an error, so that the other waits
 * give up at once. *since is when its end was noticed, 0 before; what it waits for is for the log.
 */
bool soft_peer_wait_gives_up(soft_context *context, time_t *since, const char *what);

#endif
