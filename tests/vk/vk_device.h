/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the files of test_vk_device: a device with validation, and a Vulkan that reports false
 * properties.
 */
#ifndef GR_TESTS_VK_DEVICE_H
#define GR_TESTS_VK_DEVICE_H

#include <string.h>

#include <grinterop/vk.h>

#include "tests/support/support.h"

/* ---- A device -------------------------------------------------------------------------------- */

/* Messages of the validation layer since the session's start. */
struct messages {
    int count;
    char first[1200];
};

/*
 * A device with validation, and its description for gr_vk_device_wrap(). If it is not available,
 * `missing` says why and nothing else is set.
 */
struct session {
    const char *missing;
    gr_vk_headless *headless;
    const gr_vk_headless_info *h;
    gr_vk_device_desc info;
    struct messages messages;
};

/* The session of the current case. */
extern struct session session;

/* A case group that runs with the fixture of support.h and with a session. */
TCase *add_vk_case(Suite *suite, const char *name);

/* A case that is skipped without a session. */
#define SESSION_TEST(...) TEST_UNLESS(session.missing, __VA_ARGS__)

/*
 * For a child, which has no fixture: starts and ends a session, and checks that the layer reported
 * nothing.
 */
void session_start(struct session *s);
void session_end(struct session *s);

/* An instance function, as FUNCTION(session.h, vkCreateBuffer). */
#define FUNCTION(h, name) ((PFN_##name)(h)->get_instance_proc_addr((h)->instance, #name))

/* A message callback for gr_vk_headless_options. */
void count_message(void *messages, const char *text);

/* Queries the properties of the physical device. */
void ask_device(const gr_vk_headless_info *h, VkPhysicalDeviceProperties *properties,
                VkPhysicalDeviceIDProperties *id);

/* Whether the session's device lists the extension. */
bool device_has(const struct session *s, const char *extension);

/* Wraps a Vulkan device and checks that it is CUDA device 0. */
gr_vk_device *must_wrap(const gr_vk_device_desc *info);

/* ---- A Vulkan with false properties ---------------------------------------------------------- */

struct lies {
    bool other_device;         /* it is another device: not a CPU, and UUID 0f0f... */
    const char *hidden[8];     /* functions that are missing; with or without KHR */
    const char *later[16];     /* functions that exist only under their KHR name */
    const char *not_listed[4]; /* extensions that the device lacks */
    VkResult listing;          /* the result of listing the extensions, if it is an error */
};

/* The session's Vulkan with false properties, valid until the next call. */
gr_vk_device_desc lying(const struct session *s, struct lies lies);

/*
 * Starts a session that lasts as long as the process. What drivers open on first use and keep must
 * not count as left open, and unloading a driver would drop the pointers to its memory, which would
 * then count as leaked.
 */
void keep_vulkan(void);

#endif
