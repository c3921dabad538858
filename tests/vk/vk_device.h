/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the files of test_vk_device: a device with the validation layer, and a Vulkan that
 * reports false properties.
 */
#ifndef GR_TESTS_VK_DEVICE_H
#define GR_TESTS_VK_DEVICE_H

#include <string.h>

#include <grinterop/vk.h>

#include "tests/support/support.h"

/* ---- A device -------------------------------------------------------------------------------- */

/* The messages of the validation layer since the start of the session. */
struct messages {
    int count;
    char first[1200];
};

/*
 * A device with the validation layer, and its description for gr_vk_device_from_vk(). If there is
 * no such device, `missing` is the reason and nothing else is set.
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

/* Adds a case that runs with the fixture of support.h and with a session. */
TCase *add_vk_case(Suite *suite, const char *name);

/* The test is skipped if there is no session. */
#define SESSION_TEST(...) TEST_UNLESS(session.missing, __VA_ARGS__)

/*
 * For a child, which has no fixture: session_start() starts a session; session_end() ends it and
 * checks that the validation layer reported nothing.
 */
void session_start(struct session *s);
void session_end(struct session *s);

/* Looks up an instance function, as in FUNCTION(session.h, vkCreateBuffer). */
#define FUNCTION(h, name) ((PFN_##name)(h)->get_instance_proc_addr((h)->instance, #name))

/* A message callback for gr_vk_headless_options. */
void count_message(void *messages, const char *text);

/* Queries the properties of the physical device. */
void ask_device(const gr_vk_headless_info *h, VkPhysicalDeviceProperties *properties,
                VkPhysicalDeviceIDProperties *id);

/* Whether the device of the session lists the extension. */
bool device_has(const struct session *s, const char *extension);

/* Wraps a Vulkan device and checks that it is CUDA device 0. */
gr_vk_device *must_wrap(const gr_vk_device_desc *info);

/* ---- A Vulkan with false properties ---------------------------------------------------------- */

struct lies {
    /* Reports another device, which is not a CPU and has the UUID 0f0f... */
    bool other_device;
    const char *hidden[8];     /* functions that seem to be missing, named with or without KHR */
    const char *later[16];     /* functions that seem to exist only under their KHR name */
    const char *not_listed[4]; /* extensions that the device seems to lack */
    VkResult listing;          /* the error that listing the extensions returns, if any */
};

/*
 * Describes the Vulkan of the session with these false properties. The result is valid until the
 * next call.
 */
gr_vk_device_desc lying(const struct session *s, struct lies lies);

/*
 * Starts a session that lasts as long as the process. Drivers keep objects that they open on first
 * use, and these must not count as left open. If a driver were unloaded, the pointers to its memory
 * would be lost, and the memory would count as leaked.
 */
void keep_vulkan(void);

#endif
