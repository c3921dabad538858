/* SPDX-License-Identifier: Apache-2.0 */
/* The files of test_vk_image.c. */
#ifndef GR_TESTS_VK_IMAGE_TESTS_H
#define GR_TESTS_VK_IMAGE_TESTS_H

#include "tests/support/support_vulkan_image.h"

void add_vulkan_byte_cases(Suite *suite);
void add_vulkan_kernel_cases(Suite *suite);
void add_vulkan_refusal_cases(Suite *suite);

#endif
