/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Operations with Vulkan, and sharing with another process, in which every call fails once (see
 * fault_walk.c).
 */
#include "fault_walk.h"
#include "tests/support/support_vulkan.h"

GROUP("vulkan", add_vulkan_case)

TEST_UNLESS(walk_missing_vulkan(), vulkan_operations_survive_each_fault)
{
    walk_list(walk_vulkan);
}

TEST_UNLESS(walk_missing_vulkan(), sharing_operations_survive_each_fault)
{
    walk_list(walk_sharing);
}

TEST_UNLESS(walk_missing_vulkan(), rings_with_an_ending_peer_survive_each_fault)
{
    walk_list(walk_peers);
}

START(walk_start(NULL))
