/* SPDX-License-Identifier: Apache-2.0 */
/* A probe of two GPUs without graphics. */
#ifndef INFO_PROBE_PEER_H
#define INFO_PROBE_PEER_H

#include "tools/info/probe_try.h"

bool probe_peer(struct probe_try *t);

#endif
