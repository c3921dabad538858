/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Chooses the CUDA context for the resources of a Vulkan device. */
#ifndef GR_VK_CUDA_CONTEXT_H
#define GR_VK_CUDA_CONTEXT_H

#include <cuda.h>

#include "lib/context.h"
#include "vk/device_match.h"

/*
 * Uses the current context. Its device must be the CUDA device of the Vulkan device, or a device
 * that can access the memory of that device. Without a current context, retains the primary context
 * of `device`. *computing receives the device of the context. The reference is released by
 * gr_context_drop().
 */
gr_status vk_context_choose(struct gr_context *context, const struct vk_identity *identity,
                            CUdevice device, CUdevice *computing, const char *call);

#endif
