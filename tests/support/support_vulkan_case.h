/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of support_vulkan.h need of each other. */
#ifndef GR_TESTS_SUPPORT_VULKAN_CASE_H
#define GR_TESTS_SUPPORT_VULKAN_CASE_H

#include "support_vulkan.h"

/* For setup and teardown: the command pool, the gates, and what was submitted. */
void vulkan_submits_begin(void);
void vulkan_submits_end(void);

#endif
