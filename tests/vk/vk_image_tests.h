/* SPDX-License-Identifier: Apache-2.0 */
/* The files of test_vk_image.c. */
#ifndef GR_TESTS_VK_IMAGE_TESTS_H
#define GR_TESTS_VK_IMAGE_TESTS_H

#include "tests/support/support_vulkan_image.h"

#endif
