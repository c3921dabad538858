/* SPDX-License-Identifier: Apache-2.0 */
/* Which CUDA context a Vulkan device's resources get. */
#ifndef GR_VK_CUDA_CONTEXT_H
#define GR_VK_CUDA_CONTEXT_H

#include "lib/context.h"
#include "vk/device_match.h"

/*
 * Takes the context that is current, whose device has to be the CUDA device that the Vulkan device
 * is or to reach its memory; where there is none, retains that device's primary one. *computing is
 * the context's device. gr_context_drop() ends it.
 */
gr_status vk_context_choose(struct gr_context *context, const struct vk_identity *identity,
                            CUdevice device, CUdevice *computing, const char *call);

#endif
