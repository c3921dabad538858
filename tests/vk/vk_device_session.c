/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A device for each case of test_vk_device, and a Vulkan that reports false properties: see
 * vk_device.h.
 */
#define _GNU_SOURCE
#include "vk_device.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- A device -------------------------------------------------------------------------------- */

void count_message(void *messages, const char *text)
{
    struct messages *m = messages;
    if (m->count++ == 0)
        snprintf(m->first, sizeof(m->first), "%s", text);
}

struct session session;

void session_start(struct session *s)
{
    static char why[800];
    *s = (struct session){0};
    gr_vk_headless_options options = GR_INIT(gr_vk_headless_options, .validation = true,
                                             .message = count_message, .user = &s->messages);
    s->headless = gr_vk_headless_create(&options);
    if (!s->headless) {
        gr_error error;
        gr_status status = (error = *gr_last_error()).status;
        ck_assert_msg(status == GR_ERR_UNSUPPORTED || status == GR_ERR_VULKAN, "%s", error_text());
        snprintf(why, sizeof(why), "no Vulkan with validation: %s", error.message);
        gr_clear_error();
        s->missing = why;
        return;
    }
    s->h = gr_vk_headless_get_info(s->headless);
    s->info = GR_INIT(gr_vk_device_desc, s->h->get_instance_proc_addr, s->h->instance,
                      s->h->physical_device, s->h->device, s->h->graphics, s->h->graphics_family);
}

void session_end(struct session *s)
{
    gr_vk_headless_free(s->headless);
    ck_assert_msg(s->messages.count == 0, "the validation layer said %d times: %s",
                  s->messages.count, s->messages.first);
}

void ask_device(const gr_vk_headless_info *h, VkPhysicalDeviceProperties *properties,
                VkPhysicalDeviceIDProperties *id)
{
    *id = (VkPhysicalDeviceIDProperties){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                       .pNext = id};
    FUNCTION(h, vkGetPhysicalDeviceProperties2)(h->physical_device, &all);
    *properties = all.properties;
}

void keep_vulkan(void)
{
    static struct session kept;
    static bool done;
    if (!done)
        session_start(&kept);
    done = true;
}

static void begin_session(void)
{
    session_start(&session);
}

static void end_session(void)
{
    session_end(&session);
}

TCase *add_vk_case(Suite *suite, const char *name)
{
    TCase *made = add_case(suite, name);
    tcase_add_unchecked_fixture(made, keep_vulkan, NULL);
    tcase_add_checked_fixture(made, begin_session, end_session);
    return made;
}

gr_vk_device *must_wrap(const gr_vk_device_desc *info)
{
    gr_vk_device *device = must_make(gr_vk_device_from_vk(info));
    ck_assert_int_eq(gr_vk_device_get_info(device)->cuda_device, 0);
    return device;
}

bool device_has(const struct session *s, const char *name)
{
    uint32_t count = 0;
    FUNCTION(s->h, vkEnumerateDeviceExtensionProperties)
    (s->h->physical_device, NULL, &count, NULL);
    VkExtensionProperties *list = calloc(count, sizeof(*list));
    FUNCTION(s->h, vkEnumerateDeviceExtensionProperties)
    (s->h->physical_device, NULL, &count, list);
    bool found = false;
    for (uint32_t i = 0; i < count; i++)
        found = found || strcmp(list[i].extensionName, name) == 0;
    free(list);
    return found;
}

/* ---- A Vulkan with false properties ---------------------------------------------------------- */

static struct lies told;
static struct session truth;

static void is_another(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *properties)
{
    FUNCTION(truth.h, vkGetPhysicalDeviceProperties2)(device, properties);
    if (!told.other_device)
        return;
    properties->properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    for (VkBaseOutStructure *s = properties->pNext; s; s = s->pNext)
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES)
            memset(((VkPhysicalDeviceIDProperties *)s)->deviceUUID, 0x0f, VK_UUID_SIZE);
}

static bool is_listed(const char *name)
{
    for (int i = 0; i < 4 && told.not_listed[i]; i++)
        if (strcmp(name, told.not_listed[i]) == 0)
            return false;
    return true;
}

static VkResult list_extensions(VkPhysicalDevice device, const char *layer, uint32_t *count,
                                VkExtensionProperties *list)
{
    if (told.listing < 0)
        return told.listing;
    VkResult result =
        FUNCTION(truth.h, vkEnumerateDeviceExtensionProperties)(device, layer, count, list);
    uint32_t left = 0;
    for (uint32_t i = 0; list && i < *count; i++)
        if (is_listed(list[i].extensionName))
            list[left++] = list[i];
    if (list)
        *count = left;
    return result;
}

static bool is_hidden(const char *name)
{
    for (int i = 0; i < 8 && told.hidden[i]; i++) {
        size_t length = strlen(told.hidden[i]);
        if (strncmp(name, told.hidden[i], length) == 0 &&
            (name[length] == '\0' || strcmp(name + length, "KHR") == 0))
            return true;
    }
    for (int i = 0; i < 16 && told.later[i]; i++)
        if (strcmp(name, told.later[i]) == 0)
            return true;
    return false;
}

static PFN_vkVoidFunction of_device(VkDevice device, const char *name)
{
    return is_hidden(name) ? NULL : FUNCTION(truth.h, vkGetDeviceProcAddr)(device, name);
}

static PFN_vkVoidFunction of_instance(VkInstance instance, const char *name)
{
    if (is_hidden(name))
        return NULL;
    if (strcmp(name, "vkGetPhysicalDeviceProperties2") == 0)
        return (PFN_vkVoidFunction)is_another;
    if (strcmp(name, "vkEnumerateDeviceExtensionProperties") == 0)
        return (PFN_vkVoidFunction)list_extensions;
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)of_device;
    return truth.h->get_instance_proc_addr(instance, name);
}

gr_vk_device_desc lying(const struct session *s, struct lies lies)
{
    truth = *s;
    told = lies;
    gr_vk_device_desc info = s->info;
    info.get_instance_proc_addr = of_instance;
    return info;
}
