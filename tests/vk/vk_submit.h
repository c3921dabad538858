/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the source files of test_vk_submit. test_vk_submit.c defines the functions. */
#ifndef GR_TESTS_VK_SUBMIT_H
#define GR_TESTS_VK_SUBMIT_H

#include "tests/support/support_vulkan_image.h"

#define SIZE 65536

/* Kinds of devices. COPIED is added for a device without external memory. */
#define WITH_SYNCHRONIZATION2 0
#define PLAIN                 1
#define COPIED                2
#define DEVICE_KINDS          4

/*
 * The device of a case, and the counts of its calls: created command pools, and submits by
 * vkQueueSubmit2 and vkQueueSubmit.
 */
extern gr_vk_device *device;
extern unsigned pools, submits[2];

void begin_device(int kind);
void end_device(void);

extern const gr_vk_use copying;
gr_resource *make_buffer(void);

#endif
