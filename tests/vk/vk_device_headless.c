/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Headless Vulkan: the chosen device, its queues, validation, and failures. */
#define _GNU_SOURCE
#include "tests/support/named_functions.h"
#include "vk_device.h"

#include <limits.h>
#include <stdlib.h>

static gr_vk_headless *create(const gr_vk_headless_options *options)
{
    return must_make(gr_vk_headless_create(options));
}

GROUP("without a window", add_vk_case)

SESSION_TEST(the_headless_device_is_the_cuda_device)
{
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceIDProperties id;
    CUuuid uuid;
    ask_device(session.h, &properties, &id);
    CU(DeviceGetUuid(&uuid, fx.device));
    if (gr_cuda_is_software())
        ck_assert_int_eq(properties.deviceType, VK_PHYSICAL_DEVICE_TYPE_CPU);
    ck_assert_mem_eq(uuid.bytes, id.deviceUUID, sizeof(uuid.bytes));
    ck_assert_uint_ge(properties.apiVersion, VK_API_VERSION_1_2);
}

/*
 * False for functions that take no VkDevice, and for functions for windows, which this device does
 * not support.
 */
static bool is_of_device(const char *name)
{
    static const char *const others[] = {
        "vkCreateInstance",    "vkCreateDevice",        "vkEnumerate",      "vkGetInstanceProcAddr",
        "vkGetPhysicalDevice", "vkAcquireNextImageKHR", "vkQueuePresentKHR"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strncmp(name, others[i], strlen(others[i])) == 0)
            return false;
    return true;
}

static void assert_in_device(const char *name)
{
    if (is_of_device(name))
        ck_assert_msg(FUNCTION(session.h, vkGetDeviceProcAddr)(session.h->device, name),
                      "a document calls %s(), which the device does not have", name);
}

/*
 * Code that is copied from a header or the guide must find its functions.
 *
 * Catches: vkQueueSubmit2() of the examples was missing, since the device was a Vulkan 1.2 device.
 */
SESSION_TEST(documented_functions_exist_in_the_device)
{
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceIDProperties id;
    ask_device(session.h, &properties, &id);
    if (properties.apiVersion < VK_API_VERSION_1_3)
        skip("the device is older than Vulkan 1.3, and has the names with KHR");
    if (!visit_named_functions("vk", assert_in_device))
        skip("the sources are not here");
}

/* Checks that vkGetDeviceQueue() returns this queue for the family, whose flags it returns. */
static VkQueueFlags family_of(const struct session *s, uint32_t family, VkQueue queue)
{
    VkQueueFamilyProperties families[32];
    uint32_t count = 32;
    if (queue == VK_NULL_HANDLE) {
        ck_assert_uint_eq(family, VK_QUEUE_FAMILY_IGNORED);
        return 0;
    }
    FUNCTION(s->h, vkGetPhysicalDeviceQueueFamilyProperties)
    (s->h->physical_device, &count, families);
    ck_assert_uint_lt(family, count);
    VkQueue found = VK_NULL_HANDLE;
    FUNCTION(s->h, vkGetDeviceQueue)(s->h->device, family, 0, &found);
    ck_assert_ptr_eq(found, queue);
    return families[family].queueFlags;
}

SESSION_TEST(headless_queues_belong_to_the_right_families)
{
    const VkQueueFlags both = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
    VkQueueFlags graphics = family_of(&session, session.h->graphics_family, session.h->graphics);
    VkQueueFlags compute = family_of(&session, session.h->compute_family, session.h->compute);
    VkQueueFlags transfer = family_of(&session, session.h->transfer_family, session.h->transfer);
    ck_assert(graphics & VK_QUEUE_GRAPHICS_BIT);
    ck_assert(compute == 0 || (compute & both) == VK_QUEUE_COMPUTE_BIT);
    ck_assert(transfer == 0 || ((transfer & VK_QUEUE_TRANSFER_BIT) && !(transfer & both)));
}

/* The feature is enabled: the validation layer accepts it, and the host signals a timeline. */
SESSION_TEST(timeline_semaphores_are_enabled)
{
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                                      .initialValue = 3};
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    VkSemaphore semaphore = VK_NULL_HANDLE;
    uint64_t value = 0;
    ck_assert_int_eq(
        FUNCTION(session.h, vkCreateSemaphore)(session.h->device, &info, NULL, &semaphore),
        VK_SUCCESS);
    VkSemaphoreSignalInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = semaphore, .value = 9};
    ck_assert_int_eq(FUNCTION(session.h, vkSignalSemaphore)(session.h->device, &signal),
                     VK_SUCCESS);
    ck_assert_int_eq(
        FUNCTION(session.h, vkGetSemaphoreCounterValue)(session.h->device, semaphore, &value),
        VK_SUCCESS);
    ck_assert_uint_eq(value, 9);
    FUNCTION(session.h, vkDestroySemaphore)(session.h->device, semaphore, NULL);
}

/* With NULL as options, and with options of zeros, which do not load the validation layer. */
SESSION_TEST(default_options_create_a_device)
{
    GR_AUTO(gr_vk_headless) *without = create(NULL);
    GR_AUTO(gr_vk_headless) *zeros = create(&GR_INIT(gr_vk_headless_options));
    const gr_vk_headless_info *h = gr_vk_headless_get_info(without);
    ck_assert_ptr_ne(h->instance, NULL);
    ck_assert_ptr_ne(h->device, gr_vk_headless_get_info(zeros)->device);
    ck_assert_ptr_null(gr_vk_device_from_headless(without, GR_TRANSPORT_SHARED));
    ck_assert_str_eq(gr_last_error()->call, "gr_vk_device_from_headless");
    GR_AUTO(gr_vk_device) *wrap = must_make(gr_vk_device_from_headless(without, 0));
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = 256,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    GR_AUTO(gr_resource) *buffer = must_make(gr_create_vk_buffer(wrap, &info, GR_READ_WRITE));
    ck_assert_int_eq(gr_vk_submit_commands(&buffer, 1, VK_NULL_HANDLE, VK_PIPELINE_STAGE_2_COPY_BIT,
                                           VK_ACCESS_2_TRANSFER_WRITE_BIT, 0),
                     h->synchronization2 ? GR_OK : GR_ERR_UNSUPPORTED); /* over 32 bits */
    FUNCTION(h, vkQueueWaitIdle)(h->graphics);
}

/* The fixture also detects descriptors that stay open. */
SESSION_TEST(a_hundred_devices_are_created_and_freed_in_turn)
{
    int before = open_fds();
    for (int i = 0; i < 100; i++) {
        GR_AUTO(gr_vk_headless) *headless = create(&GR_INIT(gr_vk_headless_options));
        ck_assert_ptr_ne(gr_vk_headless_get_info(headless)->device, NULL);
    }
    ck_assert_int_eq(open_fds(), before);
}

GROUP("validation", add_vk_case)

/* Creates an empty buffer, which makes the validation layer report an error. */
static void do_wrong(const gr_vk_headless_info *h)
{
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkBuffer buffer = VK_NULL_HANDLE;
    if (FUNCTION(h, vkCreateBuffer)(h->device, &info, NULL, &buffer) == VK_SUCCESS)
        FUNCTION(h, vkDestroyBuffer)(h->device, buffer, NULL);
}

SESSION_TEST(validation_messages_reach_the_callback)
{
    do_wrong(session.h);
    ck_assert_int_ge(session.messages.count, 1);
    ck_assert_msg(strstr(session.messages.first, "VUID-VkBufferCreateInfo-size"), "%s",
                  session.messages.first);
    session.messages.count = 0;
}

static void keep_line(void *lines, gr_log_level level, const char *line)
{
    if (level == GR_LOG_WARNING)
        count_message(lines, line);
}

/* Without a callback, the messages are warnings in the log. */
SESSION_TEST(validation_messages_without_a_callback_are_logged)
{
    struct messages lines = {0};
    GR_AUTO(gr_vk_headless) *headless =
        create(&GR_INIT(gr_vk_headless_options, .validation = true));
    gr_log_add(GR_LOG_WARNING, keep_line, &lines);
    do_wrong(gr_vk_headless_get_info(headless));
    gr_log_remove(keep_line, &lines);
    ck_assert_int_ge(lines.count, 1);
    ck_assert_msg(strstr(lines.first, "VUID-VkBufferCreateInfo-size"), "%s", lines.first);
}

/*
 * Remaining objects are reported while the device is destroyed. These messages must still reach the
 * callback.
 */
SESSION_TEST(validation_messages_at_the_end_reach_the_callback)
{
    if (sanitizer() && strcmp(sanitizer(), "AddressSanitizer") == 0)
        skip("%s counts what is left over as lost", sanitizer());
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkSemaphore left = VK_NULL_HANDLE;
    ck_assert_int_eq(FUNCTION(session.h, vkCreateSemaphore)(session.h->device, &info, NULL, &left),
                     VK_SUCCESS);
    gr_vk_headless_free(session.headless);
    session.headless = NULL;
    ck_assert_int_ge(session.messages.count, 1);
    ck_assert_msg(strstr(session.messages.first, "VUID-vkDestroyDevice-device"), "%s",
                  session.messages.first);
    session.messages.count = 0;
}

GROUP("failures without a window", add_vk_case)

TEST(a_missing_cuda_device_is_refused)
{
    char text[32];
    int count = device_past_last(text, sizeof(text));
    const gr_vk_headless_options past = GR_INIT(gr_vk_headless_options, .cuda_device = count),
                                 below = GR_INIT(gr_vk_headless_options, .cuda_device = -1),
                                 least = GR_INIT(gr_vk_headless_options, .cuda_device = INT_MIN);
    assert_null_invalid(gr_vk_headless_create(&past), text);
    assert_null_invalid(gr_vk_headless_create(&below), "CUDA device -1");
    assert_null_invalid(gr_vk_headless_create(&least), "-2147483648");
}

/* Sets an environment variable for one call; the Vulkan loader reads it each time. */
struct variable {
    const char *name;
    char *before;
};

static struct variable set_variable(const char *name, const char *value)
{
    struct variable variable = {.name = name};
    if (getenv(name))
        variable.before = strdup(getenv(name));
    setenv(name, value, 1);
    return variable;
}

static void restore_variable(struct variable *variable)
{
    if (variable->before)
        setenv(variable->name, variable->before, 1);
    else
        unsetenv(variable->name);
    free(variable->before);
}

SESSION_TEST(a_missing_vulkan_driver_is_reported)
{
    struct variable new_name = set_variable("VK_DRIVER_FILES", "/nonexistent.json");
    struct variable old_name = set_variable("VK_ICD_FILENAMES", "/nonexistent.json");
    gr_clear_error();
    gr_vk_headless *headless = gr_vk_headless_create(NULL);
    restore_variable(&old_name);
    restore_variable(&new_name);
    ck_assert_ptr_eq(headless, NULL);
    gr_error error;
    gr_status status = (error = *gr_last_error()).status;
    ck_assert_msg(status == GR_ERR_VULKAN || status == GR_ERR_UNSUPPORTED, "%s", error_text());
    ck_assert_msg(status != GR_ERR_VULKAN || error.code == VK_ERROR_INCOMPATIBLE_DRIVER, "%s",
                  error_text());
    ck_assert_ptr_ne(strstr(error.message, "VK_DRIVER_FILES"), NULL);
    ck_assert_msg(status != GR_ERR_VULKAN || strstr(error.message, "found no working driver"), "%s",
                  error.message);
    const char *hint = gr_cuda_is_software() ? "mesa-vulkan-drivers" : "NVIDIA_DRIVER_CAPABILITIES";
    ck_assert_msg(strstr(error.message, hint), "%s", error.message);
    gr_clear_error();
    gr_vk_headless_free(create(NULL));
}

SESSION_TEST(a_missing_validation_layer_is_reported)
{
    const gr_vk_headless_options options = GR_INIT(gr_vk_headless_options, .validation = true);
    struct variable path = set_variable("VK_LAYER_PATH", "/nonexistent");
    gr_clear_error();
    gr_vk_headless *headless = gr_vk_headless_create(&options);
    restore_variable(&path);
    ck_assert_ptr_eq(headless, NULL);
    assert_error(GR_ERR_UNSUPPORTED, 0, "vulkan-validationlayers");
    gr_vk_headless_free(create(&options));
}
