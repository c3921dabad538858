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

int main(int argc, char **argv)
{
    walk_start(NULL);
    return run_tests(argc, argv, "test_fault_vulkan", NULL);
}
