/* SPDX-License-Identifier: Apache-2.0 */
/* Every call fails once, see fault_walk.c: in operations between two devices. */
#include "fault_walk.h"

#include "tests/support/support_vulkan.h"

START_TEST_UNLESS(walk_missing(), devices)
{
    walk_list(walk_devices);
}
END_TEST

static void build(Suite *suite)
{
    add_tests(add_case(suite, "devices"), devices);
    add_walk_counts(suite);
}

int main(int argc, char **argv)
{
    walk_start(NULL);
    return test_main(argc, argv, "test_fault_devices", build, NULL);
}
