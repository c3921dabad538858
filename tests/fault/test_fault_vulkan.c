/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Every call fails once (see fault_walk.c): with Vulkan, and sharing with another process. */
#include "fault_walk.h"
#include "tests/support/support_vulkan.h"

GROUP("vulkan", add_vulkan_case)

TEST_UNLESS(walk_missing_vulkan(), vulkan)
{
    walk_list(walk_vulkan);
}

TEST_UNLESS(walk_missing_vulkan(), sharing)
{
    walk_list(walk_sharing);
}

TEST_UNLESS(walk_missing_vulkan(), peers)
{
    walk_list(walk_peers);
}

START(walk_start(NULL))
