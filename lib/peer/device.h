/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Messages identify the CUDA device of a resource by the UUID of the device. */
#ifndef GR_LIB_PEER_DEVICE_H
#define GR_LIB_PEER_DEVICE_H

#include <cuda.h>

#include "lib/cuda/context.h"
#include "lib/peer/description.h"

/* Writes the UUID of the device that owns the memory into the description. */
gr_status gr_share_set_device(struct gr_description *description, CUdevice device);

/*
 * Finds the device with the UUID of the description. Fails if this process cannot see such a
 * device.
 */
gr_status gr_share_find_device(const struct gr_description *description, CUdevice *device,
                               const char *call);

/*
 * Chooses the CUDA context for resources of the device: the current context if its device is the
 * same or can access the memory, otherwise the primary context of the device. The caller owns the
 * reference.
 */
gr_status gr_share_context(const struct gr_description *description, struct gr_context *context,
                           const char *call);

/* Checks that the context can also use a later resource of the same ring. */
gr_status gr_share_check_context(const struct gr_description *description,
                                 const struct gr_context *context, const char *call);

#endif
