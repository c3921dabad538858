/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * CUDA_VISIBLE_DEVICES hides and renumbers CUDA devices, but not OpenGL and Vulkan devices;
 * grinterop matches them by UUID. For each setting, OpenGL or Vulkan renders on one device that
 * CUDA can see, and CUDA computes on each device that it can see. A separate process per setting
 * and rendering device compares the bytes. Also tests the messages when CUDA cannot see the
 * rendering device.
 */
#define _GNU_SOURCE
#include "visible.h"

#include "tests/support/child_check.h"
#include "tests/support/shared_buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The exit status of a child that printed why it cannot run; any other nonzero status is a failure.
 */
#define CHILD_SKIPPED 77

static const struct setting {
    /* The value of CUDA_VISIBLE_DEVICES, in which "U0" stands for the UUID of the first device. */
    const char *value;
    int count;           /* the number of devices that CUDA can see */
    int places[MACHINE]; /* the indices of these devices on the machine */
} settings[] = {
    {"0,1", 2, {0, 1}},   {"1,0", 2, {1, 0}}, {"1", 1, {1}},      {"0", 1, {0}},
    {"U1,U0", 2, {1, 0}}, {"U1", 1, {1}},     {"1,-1,0", 1, {1}},
};
#define SETTINGS ((int)(sizeof(settings) / sizeof(*settings)))

/* ---- The parent ------------------------------------------------------------------------------ */

/* The UUIDs of the first two devices of the machine, which children get in the environment. */
static char uuids[MACHINE][41];
const char *const uuid_names[MACHINE] = {"TEST_UUID_0", "TEST_UUID_1"};

static const char *missing;

static bool ask_machine(void)
{
    int count = 0;
    if (gr_cuda_load(true) != GR_OK || gr_cuda()->DeviceGetCount(&count) != CUDA_SUCCESS ||
        count < MACHINE)
        return false;
    for (int i = 0; i < MACHINE; i++) {
        CUdevice device;
        CUuuid uuid;
        if (gr_cuda()->DeviceGet(&device, i) != CUDA_SUCCESS ||
            gr_cuda()->DeviceGetUuid(&uuid, device) != CUDA_SUCCESS)
            return false;
        uuid_text(uuid.bytes, uuids[i]);
        setenv(uuid_names[i], uuids[i], 1);
    }
    return true;
}

static void set_visible(const char *value)
{
    char text[128] = "";
    for (const char *at = value; *at; at++) {
        size_t used = strlen(text);
        if (*at == 'U')
            snprintf(text + used, sizeof(text) - used, "%s", uuids[*++at - '0']);
        else
            snprintf(text + used, sizeof(text) - used, "%c", *at);
    }
    setenv("CUDA_VISIBLE_DEVICES", text, 1);
}

/* Returns the reason that the child printed if it could not run, or NULL. */
static const char *run_child(const char *name, const struct setting *setting, int drawing)
{
    static char said[8192];
    char number[16];
    set_visible(setting->value);
    snprintf(number, sizeof(number), "%d", (int)(setting - settings));
    setenv("TEST_SETTING", number, 1);
    snprintf(number, sizeof(number), "%d", drawing);
    setenv("TEST_DRAWING", number, 1);
    int status = child_run(name, said, sizeof(said));
    unsetenv("CUDA_VISIBLE_DEVICES");
    const char *reason = strstr(said, "missing: ");
    if (status == CHILD_SKIPPED << 8 && reason)
        return reason;
    ck_assert_msg(status == 0, "CUDA_VISIBLE_DEVICES=%s, %s on %d ended with 0x%x: %.3500s",
                  setting->value, name, drawing, (unsigned)status, said);
    return NULL;
}

#define DEVICES_TEST(...) TEST_UNLESS(missing, __VA_ARGS__)

static const char *run_for_each(const char *name, const struct setting *setting)
{
    const char *reason = NULL;
    for (int drawing = 0; drawing < setting->count && !reason; drawing++)
        reason = run_child(name, setting, drawing);
    return reason;
}

GROUP("visible devices", add_bare_case)

DEVICES_TEST(opengl_finds_the_cuda_device_that_renders, SETTINGS)
{
    const char *reason = run_for_each("opengl", &settings[_i]);
    if (reason)
        skip("%.300s", reason);
}

DEVICES_TEST(vulkan_finds_the_cuda_device_that_renders, SETTINGS)
{
    const char *reason = run_for_each("vulkan", &settings[_i]);
    if (reason)
        skip("%.300s", reason);
}

DEVICES_TEST(a_rendering_device_hidden_from_cuda_is_reported, 2)
{
    static const char *const names[] = {"hidden_opengl", "hidden_vulkan"};
    const char *reason = run_child(names[_i], &settings[2], 0);
    if (reason)
        skip("%.300s", reason);
}

/* ---- The child ------------------------------------------------------------------------------- */

static const struct setting *chosen;

int say_missing(const char *reason)
{
    printf("missing: %.280s\n", reason);
    fflush(stdout);
    return CHILD_SKIPPED;
}

const char *seen_uuid(int number)
{
    return getenv(uuid_names[chosen->places[number]]);
}

void see_devices(void)
{
    int count = 0;
    chosen = &settings[atoi(getenv("TEST_SETTING"))];
    assert_ok(gr_cuda_load(true));
    fx.cu = gr_cuda();
    CU(DeviceGetCount(&count));
    ck_assert_int_eq(count, chosen->count);
    for (int i = 0; i < count; i++) {
        CUdevice device;
        CUuuid uuid;
        char text[41];
        CU(DeviceGet(&device, i));
        CU(DeviceGetUuid(&uuid, device));
        uuid_text(uuid.bytes, text);
        ck_assert_str_eq(text, seen_uuid(i));
    }
}

/* Mesa renders only for the first device of the software driver. */
static bool draws(int number)
{
    return !gr_cuda_is_software() || chosen->places[number] == 0;
}

static void set_up(int drawing, int computing)
{
    char number[16];
    snprintf(number, sizeof(number), "%d", computing);
    setenv("GR_TEST_CUDA_DEVICE", number, 1);
    fixture_draw_on(drawing);
    fixture_setup();
    ck_assert_int_eq(fx.device, computing);
}

static void tear_down(void)
{
    /* Does not count descriptors, since drivers keep those that they open on first use. */
    fx.fds = -1;
    fixture_teardown();
}

/* The last error must blame the variable, not a missing driver. */
static void assert_advises_no_driver(void)
{
    const char *message = gr_last_error()->message;
    assert_says(message, "CUDA_VISIBLE_DEVICES");
    ck_assert_msg(!strstr(message, "Install"), "%s", message);
    gr_clear_error();
}

/* ---- OpenGL ---------------------------------------------------------------------------------- */

void opengl_uuid(char text[41])
{
    GLubyte uuid[16] = {0};
    glGetUnsignedBytei_vEXT(GL_DEVICE_UUID_EXT, 0, uuid);
    uuid_text(uuid, text);
}

static void assert_opengl_is_on(int drawing)
{
    char text[41];
    int number = -1;
    assert_ok(gr_gl_cuda_device(&number));
    ck_assert_int_eq(number, drawing);
    opengl_uuid(text);
    if (!gr_cuda_is_software())
        ck_assert_str_eq(text, seen_uuid(drawing));
}

void check_bytes(gr_resource *resource)
{
    assert_mapped(resource, 1);
    write_mapped(resource, 2);
    assert_gl_pattern(gr_gl_name(resource), SIZE, 2);
    gr_resource_free(resource);
}

void share_existing(gr_transport transport)
{
    gr_resource *resource =
        must_make(gr_from_gl_buffer_with(gl_buffer_pattern(SIZE, 1), GR_READ_WRITE,
                                         &GR_INIT(gr_gl_options, .transports = transport)));
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, transport);
    check_bytes(resource);
}

/* Shares newly created storage. The description of the resource must name both devices. */
static void share_created(int drawing, int computing)
{
    char text[900];
    gr_resource *resource = must_make(gr_create_gl_buffer(SIZE, GR_READ_WRITE, &by_sharing));
    gr_resource_describe(resource, text, sizeof(text));
    if (drawing != computing) {
        assert_says(text, seen_uuid(drawing));
        assert_says(text, seen_uuid(computing));
    }
    gl_copy_buffer(gl_buffer_pattern(SIZE, 1), gr_gl_name(resource), SIZE);
    check_bytes(resource);
}

static void share_all_ways(int drawing, int computing)
{
    char numbers[64];
    share_existing(GR_TRANSPORT_INTEROP);
    share_existing(GR_TRANSPORT_COPY);
    share_created(drawing, computing);
    if (drawing == computing)
        return;
    share_existing(GR_TRANSPORT_PEER);
    const gr_transport_info *peer = must_make(gr_gl_probe(GR_TRANSPORT_PEER));
    snprintf(numbers, sizeof(numbers), "CUDA device %d reaches the memory of device %d", computing,
             drawing);
    ck_assert_msg(peer->usable && strstr(peer->reason, numbers), "%s", peer->reason);
}

/*
 * If EGL cannot render on a device, the error of gr_egl_create() has the CUDA index of that device.
 * Catches: the error advised to install Mesa, although Mesa was installed and rendered on another
 * device.
 */
static void assert_egl_refuses(int number)
{
    char not_it[64];
    const gr_egl_options options = GR_INIT(gr_egl_options, .cuda_device = number);
    snprintf(not_it, sizeof(not_it), "not CUDA device %d: ", number);
    assert_null(gr_egl_create(&options), GR_ERR_GL, -1, not_it);
    ck_assert_ptr_null(gr_egl_create(&options));
    assert_advises_no_driver();
}

CHILD(opengl)
{
    const int drawing = atoi(getenv("TEST_DRAWING"));
    see_devices();
    if (!draws(drawing)) {
        assert_egl_refuses(drawing);
        return 0;
    }
    for (int computing = 0; computing < chosen->count; computing++) {
        set_up(drawing, computing);
        assert_opengl_is_on(drawing);
        const char *reason = shared_missing();
        if (reason)
            return say_missing(reason);
        share_all_ways(drawing, computing);
        tear_down();
    }
    return 0;
}

/* ---- Vulkan ---------------------------------------------------------------------------------- */

VkPhysicalDeviceType ask_vulkan(PFN_vkGetInstanceProcAddr get, VkInstance instance,
                                VkPhysicalDevice device, char uuid[41])
{
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
    PFN_vkGetPhysicalDeviceProperties2 ask =
        (PFN_vkGetPhysicalDeviceProperties2)get(instance, "vkGetPhysicalDeviceProperties2");
    ask(device, &properties);
    uuid_text(id.deviceUUID, uuid);
    return properties.properties.deviceType;
}

static void assert_vulkan_is_on(int drawing, int computing)
{
    const char *text = gr_vk_device_get_info(vk.wrap)->description;
    char uuid[41];
    ck_assert_int_eq(gr_vk_device_get_info(vk.wrap)->cuda_device, drawing);
    assert_says(text, seen_uuid(drawing));
    assert_says(text, seen_uuid(computing));
    ask_vulkan(vk.h->get_instance_proc_addr, vk.h->instance, vk.h->physical_device, uuid);
    if (!gr_cuda_is_software())
        ck_assert_str_eq(uuid, seen_uuid(drawing));
}

/*
 * Vulkan renders on the device under test. OpenGL renders on any device on which it can, since the
 * fixture needs an OpenGL context.
 */
CHILD(vulkan)
{
    const int drawing = atoi(getenv("TEST_DRAWING"));
    see_devices();
    if (!draws(drawing)) {
        assert_null(gr_vk_headless_create(&GR_INIT(gr_vk_headless_options, .cuda_device = drawing)),
                    GR_ERR_UNSUPPORTED, 0, seen_uuid(drawing));
        ck_assert_ptr_null(
            gr_vk_headless_create(&GR_INIT(gr_vk_headless_options, .cuda_device = drawing)));
        assert_advises_no_driver();
        return 0;
    }
    for (int computing = 0; computing < chosen->count; computing++) {
        set_up(drawing, computing);
        vulkan_setup();
        if (vk.missing)
            return say_missing(vk.missing);
        assert_vulkan_is_on(drawing, computing);
        GR_AUTO(gr_resource) *resource = must_create(SIZE, GR_READ_WRITE);
        vulkan_bytes_both_ways(resource, gr_vk_buffer(resource), SIZE, 1);
        vulkan_teardown();
        tear_down();
    }
    return 0;
}

/* ---- The program ----------------------------------------------------------------------------- */

/*
 * With the software driver the parent adds a second device and can see both. If
 * CUDA_VISIBLE_DEVICES restricts the GPUs already, the tests are skipped.
 */
static void begin_parent(void)
{
    const char *driver = getenv("GR_CUDA_DRIVER");
    if (driver && strcmp(driver, "soft") == 0) {
        setenv("GR_SOFT_DEVICES", "2", 0);
        unsetenv("CUDA_VISIBLE_DEVICES");
    }
    if (getenv("CUDA_VISIBLE_DEVICES"))
        missing = "CUDA_VISIBLE_DEVICES is set already";
    else if (!ask_machine())
        missing = "it needs two CUDA devices";
}

int main(int argc, char **argv)
{
    if (argc == 1)
        begin_parent();
    return run_tests(argc, argv);
}
