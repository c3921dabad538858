/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Which contexts may access which memory if there are several devices. */
#ifndef GR_SOFTCUDA_DRIVER_PEER_ACCESS_H
#define GR_SOFTCUDA_DRIVER_PEER_ACCESS_H

#include "softcuda/driver/soft.h"

/*
 * Whether kernels and fills of the context may access the memory. All contexts may access host and
 * managed memory. A device may access its own memory. Three calls enable access to other memory:
 * cuCtxEnablePeerAccess for the allocations of a context, cuMemPoolSetAccess for the memory of a
 * pool, cuMemSetAccess for mappings.
 */
bool soft_can_access(const soft_context *context, const soft_range *range);

/* Whether the context may access cuMemAlloc memory and arrays of the other context. */
bool soft_peer_enabled(const soft_context *context, const soft_context *other);

/* For messages: the call by which a program enables access to the memory. */
const char *soft_access_remedy(const soft_range *range);

/* Removes all peer access of the context, and of other contexts to it. */
void soft_peers_remove(const soft_context *context);

#endif
