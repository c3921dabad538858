/* SPDX-License-Identifier: Apache-2.0 */
/* Every call fails once, see fault_walk.c: with Vulkan, and with what another process has. */
#include "fault_walk.h"
#include "tests/support/support_vulkan.h"

START_TEST_UNLESS(walk_missing_vulkan(), vulkan)
{
    walk_list(walk_vulkan);
}
END_TEST

START_TEST_UNLESS(walk_missing_vulkan(), sharing)
{
    walk_list(walk_sharing);
}
END_TEST

START_TEST_UNLESS(walk_missing_vulkan(), peers)
{
    walk_list(walk_peers);
}
END_TEST

static void build(Suite *suite)
{
    add_tests(add_vulkan_case(suite, "vulkan"), vulkan, sharing, peers);
    add_vulkan_end(suite);
    add_walk_counts(suite);
}

int main(int argc, char **argv)
{
    walk_start(NULL);
    return test_main(argc, argv, "test_fault_vulkan", build, NULL);
}
