/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Vulkan devices: wrapping them, matching them with CUDA devices, and messages about missing
 * functions and extensions.
 */
#define _GNU_SOURCE
#include "tests/support/cuda_symbol.h"
#include "vk_device.h"

#include <stdio.h>
#include <sys/wait.h>

GROUP("wrapping", add_vk_case)

/* Whether Vulkan reports that it can export timeline semaphores; lavapipe cannot. */
static bool can_export(const struct session *s)
{
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkPhysicalDeviceExternalSemaphoreInfo info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
        .pNext = &type,
        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkExternalSemaphoreProperties has = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
    FUNCTION(s->h, vkGetPhysicalDeviceExternalSemaphoreProperties)
    (s->h->physical_device, &info, &has);
    return has.externalSemaphoreFeatures & VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT;
}

SESSION_TEST(a_wrapped_device_reports_whether_it_has_semaphores)
{
    GR_AUTO(gr_vk_device) *device = must_wrap(&session.info);
    bool exports = can_export(&session);
    ck_assert_int_eq(gr_vk_device_get_info(device)->has_semaphores, exports);
    ck_assert(exports || gr_cuda_is_software()); /* the NVIDIA driver can export semaphores */
}

SESSION_TEST(a_wrapped_device_reports_its_properties)
{
    GR_AUTO(gr_vk_device) *device = must_wrap(&session.info);
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceIDProperties id;
    char uuid[41];
    ask_device(session.h, &properties, &id);
    uuid_text(id.deviceUUID, uuid);
    const char *text = gr_vk_device_get_info(device)->description;
    const char *through = gr_vk_device_get_info(device)->has_semaphores
                              ? "semaphores by OPAQUE_FD"
                              : "semaphores through the host";
    const char *const parts[] = {properties.deviceName, uuid, "CUDA device 0",
                                 "memory by OPAQUE_FD", through};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        ck_assert_msg(strstr(text, parts[i]), "no %s in: %s", parts[i], text);
    ck_assert_ptr_eq(strchr(text, '\n'), NULL);
}

SESSION_TEST(a_device_without_a_queue_can_be_wrapped)
{
    session.info.queue = VK_NULL_HANDLE;
    gr_vk_device_free(must_wrap(&session.info));
}

SESSION_TEST(a_device_can_be_wrapped_twice)
{
    gr_vk_device *first = must_wrap(&session.info), *second = must_wrap(&session.info);
    ck_assert_ptr_ne(first, second);
    gr_vk_device_free(first);
    ck_assert_int_eq(gr_vk_device_get_info(second)->cuda_device, 0);
    {
        GR_AUTO(gr_vk_device) *third = must_wrap(&session.info);
        (void)third;
    }
    gr_vk_device_free(second);
}

SESSION_TEST(null_members_are_refused)
{
    for (int i = 0; i < 4; i++) {
        static const char *const names[] = {"get_instance_proc_addr", "instance", "physical_device",
                                            "device"};
        gr_vk_device_desc info = session.info;
        if (i == 0)
            info.get_instance_proc_addr = NULL;
        if (i == 1)
            info.instance = VK_NULL_HANDLE;
        if (i == 2)
            info.physical_device = VK_NULL_HANDLE;
        if (i == 3)
            info.device = VK_NULL_HANDLE;
        char text[64];
        snprintf(text, sizeof(text), i < 2 ? "`desc->%s`" : "`desc->%s` is NULL", names[i]);
        assert_null_invalid(gr_vk_device_from_vk(&info), text);
    }
}

/* The functions are then those that the Vulkan loader exports. */
SESSION_TEST(a_device_is_wrapped_without_its_instance)
{
    gr_vk_device_desc info = session.info;
    uint32_t with = 0, without = 0;
    assert_ok(gr_vk_device_extensions(&info, NULL, &with));
    GR_AUTO(gr_vk_device) *usual = must_make(gr_vk_device_from_vk(&info));
    info.get_instance_proc_addr = NULL;
    info.instance = VK_NULL_HANDLE;
    assert_ok(gr_vk_device_extensions(&info, NULL, &without));
    ck_assert_uint_eq(with, without);
    GR_AUTO(gr_vk_device) *device = must_make(gr_vk_device_from_vk(&info));
    ck_assert_str_eq(gr_vk_device_get_info(device)->description,
                     gr_vk_device_get_info(usual)->description);
    const VkBufferCreateInfo buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                       .size = 4096,
                                       .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    GR_AUTO(gr_resource) *resource =
        must_make(gr_create_vk_buffer(device, &buffer, GR_WRITE_DISCARD));
    ck_assert(gr_vk_buffer(resource) != VK_NULL_HANDLE);
}

SESSION_TEST(a_missing_queue_family_is_refused)
{
    PFN_vkGetPhysicalDeviceQueueFamilyProperties count_families =
        (PFN_vkGetPhysicalDeviceQueueFamilyProperties)session.info.get_instance_proc_addr(
            session.info.instance, "vkGetPhysicalDeviceQueueFamilyProperties");
    count_families(session.info.physical_device, &session.info.queue_family, NULL);
    char text[64];
    snprintf(text, sizeof(text), "no queue family %u", session.info.queue_family);
    assert_null_invalid(gr_vk_device_from_vk(&session.info), text);
}

GROUP("which CUDA device", add_vk_case)

SESSION_TEST(a_device_that_is_no_cuda_device_is_refused)
{
    CUuuid uuid;
    char cuda[41];
    CU(DeviceGetUuid(&uuid, fx.device));
    uuid_text(uuid.bytes, cuda);
    gr_vk_device_desc info = lying(&session, (struct lies){.other_device = true});
    assert_null(gr_vk_device_from_vk(&info), GR_ERR_UNSUPPORTED, 0,
                "GPU-0f0f0f0f-0f0f-0f0f-0f0f-0f0f0f0f0f0f");
    assert_null(gr_vk_device_from_vk(&info), GR_ERR_UNSUPPORTED, 0, cuda);
    info = lying(&session, (struct lies){.other_device = false});
    gr_vk_device_free(must_wrap(&info));
}

/*
 * The device is no CUDA device and also lacks extensions. The message must report the device, which
 * helps more than the extensions.
 */
SESSION_TEST(a_wrong_device_is_reported_rather_than_missing_extensions)
{
    gr_vk_device_desc info =
        lying(&session, (struct lies){.other_device = true, .hidden = {"vkGetMemoryFd"}});
    assert_null(gr_vk_device_from_vk(&info), GR_ERR_UNSUPPORTED, 0, "GPU-0f0f0f0f");
}

SESSION_TEST(wrapping_without_a_cuda_context_leaves_none_current)
{
    CU(CtxSetCurrent(NULL));
    gr_vk_device *device = must_wrap(&session.info);
    ck_assert_ptr_eq(current_context(), NULL);
    gr_vk_device_free(device);
    CU(CtxSetCurrent(fx.context));
    CU(StreamSynchronize(fx.stream)); /* the primary context still exists */
}

/* Runs in its own process, where no other code retains the primary context. */
CHILD(primary)
{
    typedef CUresult(CUDAAPI * state_fn)(CUdevice, unsigned int *, int *);
    struct session s;
    unsigned int flags;
    int active = -1;
    if (gr_cuda_load(true) != GR_OK)
        return 1;
    keep_vulkan();
    session_start(&s);
    if (s.missing)
        return 1;
    void *symbol = cuda_symbol("cuDevicePrimaryCtxGetState", 7000);
    state_fn get_state;
    memcpy(&get_state, &symbol, sizeof(symbol));
    ck_assert_int_eq(get_state(0, &flags, &active), CUDA_SUCCESS);
    ck_assert_int_eq(active, 0);
    gr_vk_device *device = must_wrap(&s.info);
    ck_assert_int_eq(get_state(0, &flags, &active), CUDA_SUCCESS);
    ck_assert_int_eq(active, 1);
    gr_vk_device_free(device);
    ck_assert_int_eq(get_state(0, &flags, &active), CUDA_SUCCESS);
    ck_assert_int_eq(active, 0);
    session_end(&s);
    return 0;
}

SESSION_TEST(freeing_the_device_releases_the_primary_context)
{
    char text[2000];
    int status = child_run("primary", text, sizeof(text));
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d: %s", status, text);
}

SESSION_TEST(wrapping_keeps_the_current_cuda_context)
{
    CUcontext own = new_context(NULL);
    gr_vk_device_free(must_wrap(&session.info));
    ck_assert_ptr_eq(current_context(), own);
    end_context(own);
}

SESSION_TEST(a_cuda_context_of_another_device_is_refused)
{
    int count = 0;
    CUdevice second;
    CUcontext of_second = NULL;
    CU(DeviceGetCount(&count));
    if (count < 2)
        skip("it needs two CUDA devices");
    CU(DeviceGet(&second, 1));
    CU(CtxCreate(&of_second, 0, second));
    gr_vk_device *device = must_wrap(&session.info);
    ck_assert_int_eq(gr_vk_device_get_info(device)->cuda_device, 0);
    const char *text = gr_vk_device_get_info(device)->description;
    ck_assert_msg(strstr(text, "(CUDA device 0") && strstr(text, "(CUDA device 1") &&
                      strstr(text, "peer access"),
                  "%s", text);
    gr_vk_device_free(device);
    end_context(of_second);
}

GROUP("extensions", add_vk_case)

TEST(instance_extensions_are_listed)
{
    uint32_t count = 0, small = 2, exact;
    const char *names[8] = {NULL};
    assert_ok(gr_vk_instance_extensions(NULL, &count));
    ck_assert_uint_eq(count, 3);
    assert_invalid(gr_vk_instance_extensions(names, &small), "room for only 2");
    ck_assert_uint_eq(small, 2);
    ck_assert_ptr_eq(names[0], NULL);
    exact = count;
    assert_ok(gr_vk_instance_extensions(names, &exact));
    ck_assert_uint_eq(exact, count);
    ck_assert_str_eq(names[0], "VK_KHR_get_physical_device_properties2");
    ck_assert_ptr_eq(names[3], NULL);
    count = 8;
    assert_ok(gr_vk_instance_extensions(names, &count));
    ck_assert_uint_eq(count, exact);
    assert_invalid(gr_vk_instance_extensions(names, NULL), "`count`");
}

SESSION_TEST(device_extensions_are_listed)
{
    uint32_t count = 0, room;
    const char *names[16] = {NULL};
    gr_vk_device_desc info =
        GR_INIT(gr_vk_device_desc, .get_instance_proc_addr = session.info.get_instance_proc_addr,
                .instance = session.info.instance, .physical_device = session.info.physical_device);
    assert_ok(gr_vk_device_extensions(&info, NULL, &count));
    ck_assert_uint_ge(count, 3);
    room = count - 1;
    assert_invalid(gr_vk_device_extensions(&info, names, &room), "room for");
    ck_assert_uint_eq(room, count - 1);
    ck_assert_ptr_eq(names[0], NULL);
    room = count;
    assert_ok(gr_vk_device_extensions(&info, names, &room));
    ck_assert_uint_eq(room, count);
    bool memory = false;
    for (uint32_t i = 0; i < count; i++) {
        ck_assert_msg(device_has(&session, names[i]), "%s", names[i]);
        memory = memory || strcmp(names[i], "VK_KHR_external_memory_fd") == 0;
    }
    ck_assert(memory);

    info = lying(&session, (struct lies){.not_listed = {"VK_KHR_timeline_semaphore"}});
    assert_ok(gr_vk_device_extensions(&info, names, &room));
    ck_assert_uint_eq(room, count - 1);
}

static bool lists(const char *const names[], uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

SESSION_TEST(device_extensions_are_listed_without_a_device)
{
    uint32_t count = 0, of_device = 16, room;
    const char *names[16] = {NULL}, *device_names[16];
    assert_ok(gr_vk_device_extensions(NULL, NULL, &count));
    room = count - 1;
    assert_invalid(gr_vk_device_extensions(NULL, names, &room), "room for");
    room = count;
    assert_ok(gr_vk_device_extensions(NULL, names, &room));
    ck_assert_uint_eq(room, count);
    assert_ok(gr_vk_device_extensions(&session.info, device_names, &of_device));
    for (uint32_t i = 0; i < of_device; i++)
        ck_assert(lists(names, count, device_names[i]));
    for (uint32_t i = 0; i < count; i++)
        ck_assert_msg(lists(device_names, of_device, names[i]) == device_has(&session, names[i]),
                      "%s", names[i]);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL no_function(VkInstance instance, const char *name)
{
    (void)instance, (void)name;
    return NULL;
}

/* As if the function and the instance were those of two Vulkans. */
SESSION_TEST(a_vulkan_without_functions_is_reported)
{
    uint32_t count = 5;
    gr_vk_device_desc info = session.info;
    VkPhysicalDevice found = VK_NULL_HANDLE;
    info.get_instance_proc_addr = no_function;
    assert_fails(gr_vk_device_extensions(&info, NULL, &count), GR_ERR_VULKAN, 0,
                 "belong to the same Vulkan");
    assert_fails(gr_vk_physical_device(no_function, info.instance, fx.device, &found),
                 GR_ERR_VULKAN, 0, "belong to the same Vulkan");
    ck_assert(count == 5 && !found);
}

SESSION_TEST(device_extensions_refuses_null)
{
    uint32_t count = 5;
    gr_vk_device_desc info = session.info;
    assert_invalid(gr_vk_device_extensions(&info, NULL, NULL), "`count`");
    info.get_instance_proc_addr = NULL;
    assert_invalid(gr_vk_device_extensions(&info, NULL, &count), "get_instance_proc_addr");
    info.physical_device = VK_NULL_HANDLE;
    assert_invalid(gr_vk_device_extensions(&info, NULL, &count), "physical_device");
    ck_assert_uint_eq(count, 5);
}
