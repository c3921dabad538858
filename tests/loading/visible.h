/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the children of test_visible. */
#ifndef GR_TESTS_VISIBLE_H
#define GR_TESTS_VISIBLE_H

#include "tests/support/support_vulkan.h"

#include <string.h>

#define SIZE ((size_t)65536)

/*
 * The first two devices of the machine, in the order that CUDA uses without CUDA_VISIBLE_DEVICES.
 */
#define MACHINE 2

/*
 * The environment variables by which the parent passes the UUIDs of these devices to its children.
 */
extern const char *const uuid_names[MACHINE];

#define assert_says(text, part)                                                                    \
    ck_assert_msg(strstr(text, part), "\"%s\" is not in: %s", part, text)

/* Prints why this child cannot run. Returns the exit status that reports this to the parent. */
int say_missing(const char *reason);

/*
 * Checks that CUDA sees the devices of the setting, in order. seen_uuid() returns the UUID of a
 * device by its CUDA index.
 */
void see_devices(void);
const char *seen_uuid(int number);

/*
 * The UUID that OpenGL reports. Mesa on the CPU derives it from the Mesa version. On a GPU it is
 * the UUID that CUDA reports.
 */
void opengl_uuid(char text[41]);

/* Queries the UUID and the type of a device of any instance. */
VkPhysicalDeviceType ask_vulkan(PFN_vkGetInstanceProcAddr get, VkInstance instance,
                                VkPhysicalDevice device, char uuid[41]);

/*
 * Checks that CUDA and OpenGL see each other's bytes. share_existing() does so with an existing
 * OpenGL buffer.
 */
void check_bytes(gr_resource *resource);
void share_existing(gr_transport transport);

#endif
