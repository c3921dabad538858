/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the files of test_vk_copy.c, which defines these. */
#ifndef GR_TESTS_VK_COPY_H
#define GR_TESTS_VK_COPY_H

#include "tests/support/support_vulkan_image.h"

#define SIZE 65536

/* How CUDA and Vulkan reach the host memory. */
enum { IMPORTED, REGISTERED, BY_CPU, WAYS };

/* The next device creates no images. */
extern bool refuses_images;

/* A device that copies, and the same without synchronization2. */
extern gr_vk_device *copying;
void begin_copying(int way);
void begin_copying_by(int way, bool synchronization2);
void end_copying(void);

/* A use by transfers, with the layout for images. */
gr_vk_use transfers(VkImageLayout layout);

/* A buffer that `copying` creates. */
gr_resource *must_copy(size_t size, unsigned flags);

/*
 * Submits commands, which are ended here, by gr_vk_submit() with both barriers, without a wait.
 * VK_NULL_HANDLE: no commands.
 */
gr_status submit_with(gr_resource *const resources[], size_t n, VkCommandBuffer commands,
                      const gr_vk_use *first, const gr_vk_use *last);

#endif
