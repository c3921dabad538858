/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Functions that the files behind support_vulkan.h share. */
#ifndef GR_TESTS_SUPPORT_VULKAN_CASE_H
#define GR_TESTS_SUPPORT_VULKAN_CASE_H

#include "support_vulkan.h"

/* For set-up and teardown: create and free the command pool, the gates, and the submits. */
void vulkan_submits_begin(void);
void vulkan_submits_end(void);

/*
 * For a buffer that grinterop copies: from now on, gr_vk_cmd_from_cuda() and gr_vk_cmd_to_cuda()
 * record the barriers in the commands of the tests.
 */
void vulkan_submits_copy(gr_resource *resource);

#endif
