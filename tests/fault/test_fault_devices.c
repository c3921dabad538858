/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Operations between two devices, in which every call fails once (see fault_walk.c). */
#include "fault_walk.h"

GROUP("devices", add_case)

TEST_UNLESS(walk_missing(), operations_between_devices_survive_each_fault)
{
    walk_list(walk_devices);
}

START(walk_start(NULL))
