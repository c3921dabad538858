/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of test_vk_device share: a device with validation, and a Vulkan that does not tell
 * the truth.
 */
#ifndef GR_TESTS_VK_DEVICE_H
#define GR_TESTS_VK_DEVICE_H

#include <string.h>

#include <grinterop/vk.h>

#include "tests/support/support.h"

/* ---- A device -------------------------------------------------------------------------------- */

/* What the validation layer said, since the session's start. */
struct messages {
    int count;
    char first[1200];
};

/*
 * A device with validation, and the description of it for gr_vk_device_wrap(). `missing` says why
 * there is none; then nothing else is set.
 */
struct session {
    const char *missing;
    gr_vk_headless *headless;
    const gr_vk_headless_info *h;
    gr_vk_device_desc info;
    struct messages messages;
};

/* What each case finds: its own. */
extern struct session session;

/* A case group that runs with the fixture of support.h and with a session. */
TCase *add_vk_case(Suite *suite, const char *name);

/* A case that is skipped where there is no session. */
#define SESSION_TEST(...) TEST_UNLESS(session.missing, __VA_ARGS__)

/* For a child, which has no fixture: starts one, and ends it; the layer has said nothing. */
void session_start(struct session *s);
void session_end(struct session *s);

/* A function of the instance, as FUNCTION(session.h, vkCreateBuffer). */
#define FUNCTION(h, name) ((PFN_##name)(h)->get_instance_proc_addr((h)->instance, #name))

/* The messages' receiver, for gr_vk_headless_options. */
void count_message(void *messages, const char *text);

/* The physical device's own words. */
void ask_device(const gr_vk_headless_info *h, VkPhysicalDeviceProperties *properties,
                VkPhysicalDeviceIDProperties *id);

/* Whether it lists the extension. */
bool device_has(const struct session *s, const char *extension);

/* Wraps it; it is CUDA device 0. */
gr_vk_device *must_wrap(const gr_vk_device_desc *info);

/* ---- A Vulkan that lies ---------------------------------------------------------------------- */

struct lies {
    bool other_device;         /* it is another device: no CPU, and UUID 0f0f... */
    const char *hidden[8];     /* functions that are not there; with KHR or without */
    const char *later[16];     /* functions that only have the name with KHR */
    const char *not_listed[4]; /* extensions that the device has not */
    VkResult listing;          /* what listing the extensions gives, if it is an error */
};

/* The session's Vulkan with lies; it stays until it is called again. */
gr_vk_device_desc lying(const struct session *s, struct lies lies);

/*
 * Starts a session that lasts as long as the process: what drivers open on first use and keep must
 * not count as left open, and a driver that is unloaded takes the pointers to its memory with it,
 * which then counts as lost.
 */
void keep_vulkan(void);

#endif
