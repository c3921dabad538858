/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the children of test_visible. */
#ifndef GR_TESTS_VISIBLE_H
#define GR_TESTS_VISIBLE_H

#include "tests/support/support_vulkan.h"

#include <string.h>

#define SIZE ((size_t)65536)

/* The machine's first two devices, in the order CUDA uses without the variable. */
#define MACHINE 2

/* The environment variables that pass the machine's UUIDs to children. */
extern const char *const uuid_names[MACHINE];

#define assert_says(text, part)                                                                    \
    ck_assert_msg(strstr(text, part), "\"%s\" is not in: %s", part, text)

/* Prints why this child cannot run; returns its exit status. */
int say_missing(const char *reason);

/* Checks that CUDA sees the setting's devices, in order; the UUID of a device by CUDA index. */
void see_devices(void);
const char *seen_uuid(int number);

/* The UUID that OpenGL reports: on the CPU Mesa's version, on a GPU the same as CUDA's. */
void opengl_uuid(char text[41]);

/* Queries a device of any instance for its UUID and type. */
VkPhysicalDeviceType ask_vulkan(PFN_vkGetInstanceProcAddr get, VkInstance instance,
                                VkPhysicalDevice device, char uuid[41]);

/* CUDA and OpenGL see each other's bytes; the second checks an existing OpenGL buffer. */
void check_bytes(gr_resource *resource);
void share_existing(gr_transport transport);

#endif
