/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Every call fails once (see fault_walk.c): operations between two devices. */
#include "fault_walk.h"

#include "tests/support/support_vulkan.h"

GROUP("devices", add_case)

TEST_UNLESS(walk_missing(), devices)
{
    walk_list(walk_devices);
}

START(walk_start(NULL))
