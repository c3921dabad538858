/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which CUDA device a Vulkan device is: they are matched by what they say of themselves, never by
 * index.
 */
#ifndef GR_VK_DEVICE_MATCH_H
#define GR_VK_DEVICE_MATCH_H

#include <stdbool.h>

#include <grinterop/vk.h>

#include "vk/identity.h"

/* The CUDA device of that ordinal, as CUDA counts. GR_ERR_INVALID_VALUE: there is none. */
gr_status vk_get_cuda_device(int ordinal, CUdevice *device, const char *call);

/* Whether it is the one that the software CUDA driver's first device shares memory with. */
bool vk_is_software_device(const struct vk_identity *identity);

/* Says whether the Vulkan device and the CUDA device are one. The CUDA driver has to be loaded. */
gr_status vk_compare_cuda_device(const struct vk_identity *identity, CUdevice device, bool *same,
                                 const char *call);

/*
 * The CUDA device that the Vulkan device is. GR_ERR_UNSUPPORTED if there is none, naming both
 * sides; GR_ERR_CUDA.
 */
gr_status vk_find_cuda_device(const struct vk_identity *identity, CUdevice *device, int *ordinal,
                              const char *call);

#endif
