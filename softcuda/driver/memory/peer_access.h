/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Which context may access which memory, with several devices. */
#ifndef GR_SOFTCUDA_DRIVER_PEER_ACCESS_H
#define GR_SOFTCUDA_DRIVER_PEER_ACCESS_H

#include "softcuda/driver/soft.h"

/*
 * Whether kernels and fills of the context may access the memory. All contexts may access host and
 * managed memory; otherwise a device may access its own memory. Three calls enable access to more:
 * cuCtxEnablePeerAccess for a context's allocations, cuMemPoolSetAccess for a pool's memory,
 * cuMemSetAccess for mappings.
 */
bool soft_can_access(const soft_context *context, const soft_range *range);

/* Whether it may access the other context's cuMemAlloc memory and arrays. */
bool soft_peer_enabled(const soft_context *context, const soft_context *other);

/* The call that would enable access, for a message. */
const char *soft_access_remedy(const soft_range *range);

/* Removes all access that the context was given. */
void soft_peers_remove(const soft_context *context);

#endif
