/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the source files of test_vk_life. vk_life_order.c defines the functions. */
#ifndef GR_TESTS_VK_LIFE_H
#define GR_TESTS_VK_LIFE_H

#include "tests/support/support_vulkan.h"

#define SIZE 65536

/* CUDA fills the resource and Vulkan reads it. */
void check_round_trip(gr_resource *resource, int value);

/*
 * Creates a resource on a device that is wrapped for it. Only the resource then keeps the device
 * alive.
 */
gr_resource *make_alone(void);

#endif
