/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Chooses the CUDA context for the resources of a Vulkan device. */
#ifndef GR_VK_DEVICE_CONTEXT_OF_DEVICE_H
#define GR_VK_DEVICE_CONTEXT_OF_DEVICE_H

#include <cuda.h>

#include "lib/cuda/context.h"
#include "vk/device/device_match.h"

/*
 * Uses the current context. Without one, retains the primary context of `device`, the CUDA device
 * of the Vulkan device. *computing receives the device of the context. *reaches is set if that
 * device is `device` or has access to its memory. The reference is released by gr_context_drop().
 */
gr_status vk_context_choose(struct gr_context *context, CUdevice device, CUdevice *computing,
                            bool *reaches, const char *call);

/* The error for a context whose device, `computing`, has no access to the memory of `device`. */
gr_status vk_context_refuse(const struct vk_identity *identity, CUdevice device, CUdevice computing,
                            const char *call);

#endif
