/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the files of test_vk_submit.c. test_vk_submit.c defines what is declared below. */
#ifndef GR_TESTS_VK_SUBMIT_H
#define GR_TESTS_VK_SUBMIT_H

#include "tests/support/support_vulkan_image.h"

#define SIZE 65536

/* Devices, and with COPIED the same without external memory. */
#define WITH_SYNCHRONIZATION2 0
#define PLAIN                 1
#define COPIED                2
#define DEVICE_KINDS          4

/*
 * The device of a case, with the numbers of its calls: created command pools, and submits by
 * vkQueueSubmit2 and vkQueueSubmit.
 */
extern gr_vk_device *device;
extern unsigned pools, submits[2];

void begin_device(int kind);
void end_device(void);

extern const gr_vk_use copying;
gr_resource *make_buffer(void);

#endif
