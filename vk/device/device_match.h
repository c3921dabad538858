/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Matches Vulkan devices with CUDA devices by the properties that they report, never by index. */
#ifndef GR_VK_DEVICE_DEVICE_MATCH_H
#define GR_VK_DEVICE_DEVICE_MATCH_H

#include <cuda.h>
#include <stdbool.h>

#include <grinterop/vk.h>

#include "vk/device/identity.h"

/*
 * Whether `identity` is the Vulkan device that shares memory with the first device of the software
 * CUDA driver.
 */
bool vk_is_software_device(const struct vk_identity *identity);

/*
 * Sets *same to whether a Vulkan device and a CUDA device are the same device. The CUDA driver must
 * be loaded.
 */
gr_status vk_compare_cuda_device(const struct vk_identity *identity, CUdevice device, bool *same,
                                 const char *call);

/*
 * Finds the CUDA device of the Vulkan device. If there is none, *ordinal is -1. With `required`,
 * the result is then GR_ERR_UNSUPPORTED, and the message lists the Vulkan device and the CUDA
 * devices. GR_ERR_CUDA if a CUDA call fails.
 */
gr_status vk_find_cuda_device(const struct vk_identity *identity, bool required, CUdevice *device,
                              int *ordinal, const char *call);

#endif
