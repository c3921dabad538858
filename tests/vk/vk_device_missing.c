/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The messages of gr_vk_device_from_vk() if functions or extensions are missing. Also tests that
 * the extensions that grinterop lists are sufficient.
 */
#define _GNU_SOURCE
#include "vk_device.h"

/*
 * A device and an instance that the test creates for a given Vulkan version, with or without the
 * extensions that grinterop needs. Messages of the validation layer count for the session.
 */
struct own {
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    gr_vk_device_desc info;
};

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data,
                                                 void *messages)
{
    (void)severity, (void)types;
    count_message(messages, data->pMessage);
    return VK_FALSE;
}

/* Finds the physical device of the session in another instance, by its UUID. */
static VkPhysicalDevice find_again(VkInstance instance, const struct session *s, bool extensions)
{
    VkPhysicalDevice all[16];
    uint32_t count = 16;
    PFN_vkGetInstanceProcAddr get = s->h->get_instance_proc_addr;
    PFN_vkEnumeratePhysicalDevices list =
        (PFN_vkEnumeratePhysicalDevices)get(instance, "vkEnumeratePhysicalDevices");
    PFN_vkGetPhysicalDeviceProperties2 ask = (PFN_vkGetPhysicalDeviceProperties2)get(
        instance,
        extensions ? "vkGetPhysicalDeviceProperties2KHR" : "vkGetPhysicalDeviceProperties2");
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceIDProperties wanted;
    ask_device(s->h, &properties, &wanted);
    ck_assert_int_eq(list(instance, &count, all), VK_SUCCESS);
    for (uint32_t i = 0; i < count; i++) {
        VkPhysicalDeviceIDProperties id = {.sType =
                                               VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
        VkPhysicalDeviceProperties2 is = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                          .pNext = &id};
        ask(all[i], &is);
        if (memcmp(id.deviceUUID, wanted.deviceUUID, VK_UUID_SIZE) == 0)
            return all[i];
    }
    ck_abort_msg("the other instance does not list the device");
    return VK_NULL_HANDLE;
}

static void own_device(struct own *own, const struct session *s, bool extensions,
                       const void *features)
{
    const char *names[16];
    uint32_t n = 16;
    own->info = s->info;
    own->info.instance = own->instance;
    own->info.physical_device = find_again(own->instance, s, extensions);
    if (extensions)
        assert_ok(gr_vk_device_extensions(&own->info, names, &n));
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = s->info.queue_family,
                                     .queueCount = 1,
                                     .pQueuePriorities = &(float){1}};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = features,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue,
                               .enabledExtensionCount = extensions ? n : 0,
                               .ppEnabledExtensionNames = names};
    PFN_vkGetInstanceProcAddr get = s->h->get_instance_proc_addr;
    PFN_vkCreateDevice create = (PFN_vkCreateDevice)get(own->instance, "vkCreateDevice");
    ck_assert_int_eq(create(own->info.physical_device, &info, NULL, &own->info.device), VK_SUCCESS);
    ((PFN_vkGetDeviceQueue)get(own->instance, "vkGetDeviceQueue"))(
        own->info.device, s->info.queue_family, 0, &own->info.queue);
}

static void own_start(struct own *own, struct session *s, uint32_t version, bool extensions,
                      const void *features)
{
    static const char *const layer = "VK_LAYER_KHRONOS_validation";
    const VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = &s->messages};
    const char *names[9] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    uint32_t n = 8;
    assert_ok(gr_vk_instance_extensions(names + 1, &n));
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .apiVersion = version};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application,
                                 .enabledLayerCount = 1,
                                 .ppEnabledLayerNames = &layer,
                                 .enabledExtensionCount = 1 + (extensions ? n : 0),
                                 .ppEnabledExtensionNames = names};
    PFN_vkGetInstanceProcAddr get = s->h->get_instance_proc_addr;
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
    ck_assert_int_eq(create(&info, NULL, &own->instance), VK_SUCCESS);
    ck_assert_int_eq(
        ((PFN_vkCreateDebugUtilsMessengerEXT)get(own->instance, "vkCreateDebugUtilsMessengerEXT"))(
            own->instance, &messenger, NULL, &own->messenger),
        VK_SUCCESS);
    own_device(own, s, extensions, features);
}

static void own_end(struct own *own)
{
    PFN_vkGetInstanceProcAddr get = own->info.get_instance_proc_addr;
    ((PFN_vkDestroyDevice)get(own->instance, "vkDestroyDevice"))(own->info.device, NULL);
    ((PFN_vkDestroyDebugUtilsMessengerEXT)get(own->instance, "vkDestroyDebugUtilsMessengerEXT"))(
        own->instance, own->messenger, NULL);
    ((PFN_vkDestroyInstance)get(own->instance, "vkDestroyInstance"))(own->instance, NULL);
}

GROUP("what is missing", add_vk_case)

/* grinterop lists the extensions for the Vulkan version that the application requests. */
SESSION_TEST(listed_extensions_suffice_for_each_version)
{
    static const uint32_t versions[] = {VK_API_VERSION_1_0, VK_API_VERSION_1_1, VK_API_VERSION_1_2};
    for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
        struct own own;
        own_start(&own, &session, versions[i], true, NULL);
        gr_vk_device *device = must_wrap(&own.info);
        const char *text = gr_vk_device_get_info(device)->description;
        ck_assert_msg(!strstr(text, "no semaphores"), "%s", text);
        gr_vk_device_free(device);
        own_end(&own);
    }
}

/*
 * Catches: a submit crashed in the layer of the tests, which looked for vkQueueSubmit2KHR() only.
 */
SESSION_TEST(a_device_needs_no_extension_for_vulkan_1_3_submits)
{
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceIDProperties id;
    VkPhysicalDeviceTimelineSemaphoreFeatures timelines = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .timelineSemaphore = VK_TRUE};
    const VkPhysicalDeviceSynchronization2Features submits = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES,
        .pNext = &timelines,
        .synchronization2 = VK_TRUE};
    const VkBufferCreateInfo create = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                       .size = 1000,
                                       .usage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT};
    struct own own;
    ask_device(session.h, &properties, &id);
    if (properties.apiVersion < VK_API_VERSION_1_3)
        skip("the device is older than Vulkan 1.3");
    own_start(&own, &session, VK_API_VERSION_1_3, true, &submits);
    own.info.synchronization2 = true;
    gr_vk_device *device = must_wrap(&own.info);
    gr_resource *resource = must_make(gr_create_vk_buffer(device, &create, GR_WRITE_DISCARD));
    assert_ok(gr_vk_hand_over(&resource, 1, VK_IMAGE_LAYOUT_UNDEFINED));
    gr_buffer *buffer = must_map(resource);
    assert_ok(gr_buffer_release(buffer));
    CU(StreamSynchronize(fx.stream));
    ((PFN_vkQueueWaitIdle)own.info.get_instance_proc_addr(own.instance, "vkQueueWaitIdle"))(
        own.info.queue);
    gr_resource_free(resource);
    gr_vk_device_free(device);
    own_end(&own);
}

/* Vulkan 1.0 has the functions of later versions only under the names of their extensions. */
SESSION_TEST(functions_under_their_extension_names_are_found)
{
    static const struct lies old = {
        .later = {"vkGetPhysicalDeviceProperties2", "vkGetPhysicalDeviceFeatures2",
                  "vkGetPhysicalDeviceImageFormatProperties2",
                  "vkGetPhysicalDeviceExternalBufferProperties",
                  "vkGetPhysicalDeviceExternalSemaphoreProperties",
                  "vkGetBufferMemoryRequirements2", "vkGetImageMemoryRequirements2",
                  "vkWaitSemaphores", "vkSignalSemaphore", "vkGetSemaphoreCounterValue"}};
    struct own own;
    own_start(&own, &session, VK_API_VERSION_1_0, true, NULL);
    gr_vk_headless_info handles = {.get_instance_proc_addr = own.info.get_instance_proc_addr,
                                   .instance = own.instance,
                                   .physical_device = own.info.physical_device,
                                   .device = own.info.device};
    gr_vk_device_desc info = lying(&(struct session){.h = &handles, .info = own.info}, old);
    gr_vk_device_free(must_wrap(&info));
    own_end(&own);
}

/*
 * Timeline semaphores belong to Vulkan 1.2, and the NVIDIA driver offers their functions to every
 * device.
 */
static bool there_all_the_same(const struct own *own, const char *extension)
{
    PFN_vkGetDeviceProcAddr get = (PFN_vkGetDeviceProcAddr)own->info.get_instance_proc_addr(
        own->instance, "vkGetDeviceProcAddr");
    return strcmp(extension, "VK_KHR_timeline_semaphore") == 0 &&
           (get(own->info.device, "vkWaitSemaphores") ||
            get(own->info.device, "vkWaitSemaphoresKHR"));
}

/*
 * No extension is enabled. One message lists all missing extensions that the device supports, and
 * no other extension.
 */
SESSION_TEST(one_message_lists_all_extensions_to_enable)
{
    static const char *const extensions[] = {
        "VK_KHR_external_memory_fd", "VK_KHR_external_semaphore_fd", "VK_KHR_timeline_semaphore"};
    struct own own;
    own_start(&own, &session, VK_API_VERSION_1_1, false, NULL);
    assert_null(gr_vk_device_from_vk(&own.info), GR_ERR_UNSUPPORTED, 0, "ppEnabledExtensionNames");
    ck_assert_ptr_eq(gr_vk_device_from_vk(&own.info), NULL);
    gr_error error = *gr_last_error();
    ck_assert_ptr_ne(strstr(error.message, "were not enabled"), NULL);
    ck_assert_ptr_eq(strstr(error.message, "does not support"), NULL);
    for (size_t i = 0; i < sizeof(extensions) / sizeof(*extensions); i++) {
        const char *at = strstr(error.message, extensions[i]);
        bool missing =
            device_has(&session, extensions[i]) && !there_all_the_same(&own, extensions[i]);
        ck_assert_msg((at != NULL) == missing, "%s: %s", extensions[i], error.message);
        /* The message must list each extension once. */
        ck_assert(!at || !strstr(at + 1, extensions[i]));
    }
    gr_clear_error();
    own_end(&own);
}

SESSION_TEST(the_message_separates_missing_from_disabled_extensions)
{
    gr_vk_device_desc info =
        lying(&session, (struct lies){.hidden = {"vkGetMemoryFdKHR", "vkWaitSemaphores",
                                                 "vkGetPhysicalDeviceFeatures2"},
                                      .not_listed = {"VK_KHR_external_memory_fd"}});
    assert_null(gr_vk_device_from_vk(&info), GR_ERR_UNSUPPORTED, 0,
                "device does not support VK_KHR_external_memory_fd (vkGetMemoryFdKHR)");
    assert_null(gr_vk_device_from_vk(&info), GR_ERR_UNSUPPORTED, 0,
                "not enabled: VK_KHR_timeline_semaphore (vkWaitSemaphores)");
    assert_null(gr_vk_device_from_vk(&info), GR_ERR_UNSUPPORTED, 0,
                "instance lacks VK_KHR_get_physical_device_properties2");
}

/* grinterop works without semaphores if the device has no semaphore extensions. */
SESSION_TEST(a_device_without_semaphore_extensions_can_be_wrapped)
{
    gr_vk_device_desc info = lying(
        &session,
        (struct lies){.hidden = {"vkWaitSemaphores", "vkSignalSemaphore",
                                 "vkGetSemaphoreCounterValue", "vkGetSemaphoreFdKHR"},
                      .not_listed = {"VK_KHR_timeline_semaphore", "VK_KHR_external_semaphore_fd",
                                     "VK_KHR_external_semaphore"}});
    GR_AUTO(gr_vk_device) *device = must_wrap(&info);
    const char *text = gr_vk_device_get_info(device)->description;
    ck_assert_msg(strstr(text, "no semaphores"), "%s", text);
    ck_assert(!gr_vk_device_get_info(device)->has_semaphores);
}

/* Catches: the image counted as CUDA's if its device had no timelines when it was created. */
SESSION_TEST(a_new_image_is_not_mapped_without_timelines_either)
{
    gr_vk_device_desc info =
        lying(&session, (struct lies){.hidden = {"vkWaitSemaphores", "vkSignalSemaphore",
                                                 "vkGetSemaphoreCounterValue"},
                                      .not_listed = {"VK_KHR_timeline_semaphore"}});
    const VkImageCreateInfo create = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                      .imageType = VK_IMAGE_TYPE_2D,
                                      .format = VK_FORMAT_R8G8B8A8_UNORM,
                                      .extent = {16, 16, 1},
                                      .mipLevels = 1,
                                      .arrayLayers = 1,
                                      .samples = VK_SAMPLE_COUNT_1_BIT,
                                      .usage = VK_IMAGE_USAGE_SAMPLED_BIT};
    gr_vk_device *device = must_wrap(&info);
    if (!gr_vk_device_get_info(device)->has_semaphores) {
        gr_vk_device_free(device);
        skip("the device exports no binary semaphores");
    }
    gr_resource *image = must_make(gr_create_vk_image(device, &create, GR_READ_WRITE));
    gr_semaphore *drawn = must_make(gr_semaphore_create_vk(device, VK_SEMAPHORE_TYPE_BINARY));
    gr_semaphore *computed = must_make(gr_semaphore_create_vk(device, VK_SEMAPHORE_TYPE_BINARY));
    assert_ok(gr_resource_set_sync(image, drawn, computed));
    assert_null(gr_map(image, fx.stream), GR_ERR_STATE, 0, "is new");
    gr_resource_free(image);
    gr_semaphore_free(drawn);
    gr_semaphore_free(computed);
    gr_vk_device_free(device);
}

SESSION_TEST(functions_missing_in_the_loader_are_reported)
{
    static const char *const names[] = {"vkCreateBuffer", "vkGetDeviceProcAddr",
                                        "vkGetPhysicalDeviceMemoryProperties",
                                        "vkEnumerateDeviceExtensionProperties"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        gr_vk_device_desc info = lying(&session, (struct lies){.hidden = {names[i]}});
        assert_null(gr_vk_device_from_vk(&info), GR_ERR_VULKAN, 0, names[i]);
    }
}

SESSION_TEST(an_error_while_listing_extensions_is_reported)
{
    gr_vk_device_desc info = lying(&session, (struct lies){.listing = VK_ERROR_OUT_OF_HOST_MEMORY});
    assert_null(gr_vk_device_from_vk(&info), GR_ERR_NO_MEMORY, VK_ERROR_OUT_OF_HOST_MEMORY,
                "extensions");
    ck_assert_ptr_eq(gr_vk_device_from_vk(&info), NULL);
    gr_error error = *gr_last_error();
    ck_assert_str_eq(error.code_name, "VK_ERROR_OUT_OF_HOST_MEMORY");
    ck_assert_str_eq(error.call, "vkEnumerateDeviceExtensionProperties");
    gr_clear_error();
    uint32_t count = 77;
    assert_fails(gr_vk_device_extensions(&info, NULL, &count), GR_ERR_NO_MEMORY,
                 VK_ERROR_OUT_OF_HOST_MEMORY, "extensions");
    ck_assert_uint_eq(count, 77);
}

/* ---- Copies instead -------------------------------------------------------------------------- */

GROUP("what is missing, if copies are allowed", add_vk_case)

static void check_copies(gr_vk_device_desc info, const char *reason)
{
    info.transports = GR_TRANSPORT_ANY;
    GR_AUTO(gr_vk_device) *device = must_make(gr_vk_device_from_vk(&info));
    const gr_vk_device_info *is = gr_vk_device_get_info(device);
    ck_assert_int_eq(is->transport, GR_TRANSPORT_COPY);
    ck_assert_msg(strstr(is->description, reason), "%s", is->description);
    const VkBufferCreateInfo create = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                       .size = 1000,
                                       .usage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT};
    GR_AUTO(gr_resource) *resource =
        must_make(gr_create_vk_buffer(device, &create, GR_WRITE_DISCARD));
    assert_described(resource, "transport copy", reason);
    unordered(resource);
    fill_mapped(resource, 1);
    CU(StreamSynchronize(fx.stream));
}

/* Hides a function of each extension that sharing memory needs. The device then copies. */
SESSION_TEST(a_device_without_a_sharing_extension_copies)
{
    static const struct {
        const char *function, *extension;
    } needed[] = {
        {"vkGetMemoryFdKHR", "VK_KHR_external_memory_fd"},
        {"vkGetBufferMemoryRequirements2", "VK_KHR_get_memory_requirements2"},
        {"vkGetImageMemoryRequirements2", "VK_KHR_get_memory_requirements2"},
        {"vkGetPhysicalDeviceProperties2", "VK_KHR_get_physical_device_properties2"},
        {"vkGetPhysicalDeviceFeatures2", "VK_KHR_get_physical_device_properties2"},
        {"vkGetPhysicalDeviceImageFormatProperties2", "VK_KHR_get_physical_device_properties2"},
        {"vkGetPhysicalDeviceExternalBufferProperties", "VK_KHR_external_memory_capabilities"},
        {"vkGetPhysicalDeviceExternalSemaphoreProperties",
         "VK_KHR_external_semaphore_capabilities"},
    };
    for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
        check_copies(lying(&session, (struct lies){.hidden = {needed[i].function}}),
                     needed[i].extension);
}

/* Without semaphore functions, memory is still shared, and the host orders the work. */
SESSION_TEST(memory_is_shared_without_semaphore_extensions)
{
    gr_vk_device_desc info =
        lying(&session, (struct lies){.hidden = {"vkGetSemaphoreFdKHR", "vkWaitSemaphores"}});
    info.transports = GR_TRANSPORT_ANY;
    GR_AUTO(gr_vk_device) *device = must_make(gr_vk_device_from_vk(&info));
    ck_assert_int_eq(gr_vk_device_get_info(device)->transport, GR_TRANSPORT_EXTERNAL);
}

SESSION_TEST(a_device_that_is_no_cuda_device_copies)
{
    check_copies(lying(&session, (struct lies){.other_device = true}),
                 "CUDA has no device with its UUID");
    check_copies(lying(&session, (struct lies){.other_device = true, .hidden = {"vkGetMemoryFd"}}),
                 "CUDA has no device with its UUID");
}

/* Without a current context, the copies use the first CUDA device. */
SESSION_TEST(a_device_that_is_no_cuda_device_copies_without_a_context)
{
    CUcontext current = fx.context;
    CU(CtxSetCurrent(NULL));
    gr_vk_device_desc info = lying(&session, (struct lies){.other_device = true});
    info.transports = GR_TRANSPORT_EXTERNAL | GR_TRANSPORT_COPY;
    gr_vk_device *device = must_make(gr_vk_device_from_vk(&info));
    ck_assert_int_eq(gr_vk_device_get_info(device)->transport, GR_TRANSPORT_COPY);
    gr_vk_device_free(device);
    CU(CtxSetCurrent(current));
}

/*
 * A device without any extension and feature. The validation layer checks that grinterop uses none.
 * Catches: grinterop created timelines for a Vulkan 1.3 device without timelineSemaphore, where the
 * program ordered both sides.
 */
SESSION_TEST(a_device_without_any_extension_copies)
{
    for (int i = 0; i < 2; i++) {
        struct own own;
        own_start(&own, &session, i ? VK_API_VERSION_1_3 : VK_API_VERSION_1_1, false, NULL);
        check_copies(own.info, "VK_KHR_external_memory_fd (vkGetMemoryFdKHR)");
        own_end(&own);
    }
}

SESSION_TEST(missing_core_functions_are_errors_even_with_copies)
{
    gr_vk_device_desc info = lying(&session, (struct lies){.hidden = {"vkCmdCopyBuffer"}});
    info.transports = GR_TRANSPORT_ANY;
    assert_null(gr_vk_device_from_vk(&info), GR_ERR_VULKAN, 0, "vkCmdCopyBuffer");
    info = lying(&session, (struct lies){.listing = VK_ERROR_OUT_OF_HOST_MEMORY});
    info.transports = GR_TRANSPORT_ANY;
    assert_null(gr_vk_device_from_vk(&info), GR_ERR_NO_MEMORY, VK_ERROR_OUT_OF_HOST_MEMORY,
                "extensions");
}

SESSION_TEST(unusable_transports_of_a_device_are_refused)
{
    gr_vk_device_desc info = session.info;
    info.transports = 64;
    assert_null(gr_vk_device_from_vk(&info), GR_ERR_INVALID_VALUE, 0, "unknown bits");
    info.transports = GR_TRANSPORT_INTEROP | GR_TRANSPORT_SHARED;
    assert_null(gr_vk_device_from_vk(&info), GR_ERR_UNSUPPORTED, 0, "GR_TRANSPORT_COPY");
    info = lying(&session, (struct lies){.hidden = {"vkGetMemoryFdKHR"}});
    info.transports = GR_TRANSPORT_PEER;
    assert_null(gr_vk_device_from_vk(&info), GR_ERR_UNSUPPORTED, 0, "VK_KHR_external_memory_fd");
    info = session.info;
    info.transports = GR_TRANSPORT_EXTERNAL;
    GR_AUTO(gr_vk_device) *device = must_make(gr_vk_device_from_vk(&info));
    ck_assert_int_eq(gr_vk_device_get_info(device)->transport, GR_TRANSPORT_EXTERNAL);
}
