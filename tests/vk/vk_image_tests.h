/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the source files of test_vk_image. */
#ifndef GR_TESTS_VK_IMAGE_TESTS_H
#define GR_TESTS_VK_IMAGE_TESTS_H

#include "tests/support/support_vulkan_image.h"

#endif
