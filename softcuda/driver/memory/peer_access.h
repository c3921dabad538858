/* SPDX-License-Identifier: Apache-2.0 */
/* Which context may touch which memory, where there are several devices. */
#ifndef GR_SOFTCUDA_DRIVER_PEER_ACCESS_H
#define GR_SOFTCUDA_DRIVER_PEER_ACCESS_H

#include "softcuda/driver/soft.h"

/* Whether kernels and fills of the context may touch the memory. Memory of the host and managed
 * memory is everybody's, other memory its device's; for the rest there are three ways:
 * cuCtxEnablePeerAccess for what a context has allocated, cuMemPoolSetAccess for a pool's memory,
 * cuMemSetAccess for mappings. */
bool soft_can_touch(const soft_context *context, const soft_range *range);

/* Whether it may touch what cuMemAlloc gave to the other one, and use its arrays. */
bool soft_can_reach(const soft_context *context, const soft_context *other);

/* The call that would let it, for a message. */
const char *soft_way_to_touch(const soft_range *range);

/* Forgets what the context was given access to. */
void soft_peers_forget(const soft_context *context);

#endif
