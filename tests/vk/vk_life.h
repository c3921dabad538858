/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the files of test_vk_life.c; vk_life_order.c defines these. */
#ifndef GR_TESTS_VK_LIFE_H
#define GR_TESTS_VK_LIFE_H

#include "tests/support/support_vulkan.h"

#define SIZE 65536

/* CUDA fills the resource and Vulkan reads it. */
void check_round_trip(gr_resource *resource, int value);

/* On a device that is wrapped for it and then freed. */
gr_resource *make_alone(void);

#endif
