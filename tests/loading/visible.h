/* SPDX-License-Identifier: Apache-2.0 */
/* What the children of test_visible share. */
#ifndef GR_TESTS_VISIBLE_H
#define GR_TESTS_VISIBLE_H

#include "tests/support/support_vulkan.h"

#include <string.h>

#define SIZE ((size_t)65536)

/* The machine's first two devices, by the order that CUDA counts in without the variable. */
#define MACHINE 2

/* The variables of the environment in which children find the machine's UUIDs. */
extern const char *const uuid_names[MACHINE];

#define assert_says(text, part)                                                                    \
    ck_assert_msg(strstr(text, part), "\"%s\" is not in: %s", part, text)

/* Prints the reason why this child can't be; the value to end with. */
int say_missing(const char *reason);

/* CUDA sees those that the setting names, in its order; and the UUID of one that CUDA counts. */
void see_devices(void);
const char *seen_uuid(int number);

/* What OpenGL says of itself: on the CPU Mesa's version, on a GPU what CUDA says. */
void opengl_uuid(char text[41]);

/* Asks a device, of whichever instance, for its UUID and type. */
VkPhysicalDeviceType ask_vulkan(PFN_vkGetInstanceProcAddr get, VkInstance instance,
                                VkPhysicalDevice device, char uuid[41]);

/* CUDA and OpenGL see each other's bytes; by a buffer of OpenGL's, too, that way. */
void check_bytes(gr_resource *resource);
void share_existing(gr_transport transport);

/* visible_hidden.c's children: OpenGL and Vulkan on a device that CUDA does not see. */
int hidden_opengl(void);
int hidden_vulkan(void);

#endif
