/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA_VISIBLE_DEVICES hides CUDA's devices and counts them anew, but not OpenGL's and Vulkan's:
 * grinterop finds which is which by their UUIDs. Each setting in processes of its own, in which
 * OpenGL or Vulkan draws on one device that CUDA sees and CUDA computes on each of them, bytes
 * compared. And what is said where CUDA does not see the device that draws.
 */
#define _GNU_SOURCE
#include "tests/support/child_check.h"
#include "tests/support/own_egl.h"
#include "tests/support/shared_buffer.h"
#include "tests/support/support_vulkan.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <epoxy/egl.h>

#define SIZE ((size_t)65536)

/* The machine's first two devices, by the order that CUDA counts in without the variable. */
#define MACHINE 2

/* A child that says why it can't be; anything else that it returns is a failure. */
#define CHILD_SKIPPED 77

static const struct setting {
    const char *value;   /* of CUDA_VISIBLE_DEVICES; "U0" stands for the first device's UUID */
    int count;           /* of the devices that CUDA sees then */
    int places[MACHINE]; /* which of the machine's they are */
} settings[] = {
    {"0,1", 2, {0, 1}},   {"1,0", 2, {1, 0}}, {"1", 1, {1}},      {"0", 1, {0}},
    {"U1,U0", 2, {1, 0}}, {"U1", 1, {1}},     {"1,-1,0", 1, {1}},
};
#define SETTINGS ((int)(sizeof(settings) / sizeof(*settings)))

/* ---- The parent's side ----------------------------------------------------------------------- */

/* The machine's UUIDs, which children find in the environment. */
static char uuids[MACHINE][41];
static const char *const uuid_names[MACHINE] = {"TEST_UUID_0", "TEST_UUID_1"};

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

/* What the child printed as the reason, where it could not be. */
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

DEVICES_TEST(opengl_finds_its_cuda_device, SETTINGS)
{
    const char *reason = run_for_each("opengl", &settings[_i]);
    if (reason)
        skip("%.300s", reason);
}

DEVICES_TEST(vulkan_finds_its_cuda_device, SETTINGS)
{
    const char *reason = run_for_each("vulkan", &settings[_i]);
    if (reason)
        skip("%.300s", reason);
}

DEVICES_TEST(what_draws_is_hidden, 2)
{
    static const char *const names[] = {"hidden_opengl", "hidden_vulkan"};
    const char *reason = run_child(names[_i], &settings[2], 0);
    if (reason)
        skip("%.300s", reason);
}

/* ---- The child's side ------------------------------------------------------------------------ */

static const struct setting *chosen;

static int say_missing(const char *reason)
{
    printf("missing: %.280s\n", reason);
    fflush(stdout);
    return CHILD_SKIPPED;
}

/* The UUID of a device that CUDA counts. */
static const char *seen_uuid(int number)
{
    return getenv(uuid_names[chosen->places[number]]);
}

/* CUDA sees those that the setting names, in its order. */
static void see_devices(void)
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

/* Mesa draws for the software driver's first device alone. */
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
    fx.fds = -1; /* drivers keep what they open at their first use */
    fixture_teardown();
}

#define assert_says(text, part)                                                                    \
    ck_assert_msg(strstr(text, part), "\"%s\" is not in: %s", part, text)

/* The last error's cause is the variable, not a driver that is missing. */
static void assert_advises_no_driver(void)
{
    const char *message = gr_last_error()->message;
    assert_says(message, "CUDA_VISIBLE_DEVICES");
    ck_assert_msg(!strstr(message, "Install"), "%s", message);
    gr_clear_error();
}

/* ---- OpenGL ---------------------------------------------------------------------------------- */

/* What OpenGL says of itself: on the CPU Mesa's version, on a GPU what CUDA says. */
static void opengl_uuid(char text[41])
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

static void check_bytes(gr_resource *resource)
{
    assert_mapped(resource, 1);
    write_mapped(resource, 2);
    assert_gl_pattern(gr_gl_name(resource), SIZE, 2);
    gr_resource_free(resource);
}

static void share_existing(gr_transport transport)
{
    gr_resource *resource =
        gr_from_gl_buffer_with(gl_buffer_pattern(SIZE, 1), GR_READ_WRITE,
                               &GR_INIT(gr_gl_options, .transports = transport));
    assert_made(resource);
    ck_assert_int_eq(gr_resource_transport(resource), transport);
    check_bytes(resource);
}

/* Storage of its own; its description names both devices. */
static void share_created(int drawing, int computing)
{
    char text[900];
    gr_resource *resource = gr_gl_buffer_create(SIZE, GR_READ_WRITE, &by_sharing);
    assert_made(resource);
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
    const gr_transport_info *peer = gr_gl_probe(GR_TRANSPORT_PEER);
    assert_made(peer);
    snprintf(numbers, sizeof(numbers), "CUDA device %d reaches the memory of device %d", computing,
             drawing);
    ck_assert_msg(peer->usable && strstr(peer->reason, numbers), "%s", peer->reason);
}

/*
 * Where it does not draw, that is refused, and the number is CUDA's. Catches: the advice was to
 * install Mesa, which draws on the other device.
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

static int opengl(void)
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

/* Asks a device, of whichever instance, for its UUID and type. */
static VkPhysicalDeviceType ask_vulkan(PFN_vkGetInstanceProcAddr get, VkInstance instance,
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
    char text[700];
    ck_assert_int_eq(gr_vk_device_cuda(vk.wrap), drawing);
    gr_vk_device_describe(vk.wrap, text, sizeof(text));
    assert_says(text, seen_uuid(drawing));
    assert_says(text, seen_uuid(computing));
    ask_vulkan(vk.h->get_instance_proc_addr, vk.h->instance, vk.h->physical_device, text);
    if (!gr_cuda_is_software())
        ck_assert_str_eq(text, seen_uuid(drawing));
}

static void share_vulkans(void)
{
    gr_resource *resource = must_create(SIZE, GR_READ_WRITE);
    vulkan_bytes_both_ways(resource, gr_vk_buffer(resource), SIZE, 1);
    gr_resource_free(resource);
}

/* OpenGL draws on a device that it is on, since the fixture wants one. */
static int vulkan(void)
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
        share_vulkans();
        vulkan_teardown();
        tear_down();
    }
    return 0;
}

/* ---- What draws is hidden -------------------------------------------------------------------- */

static struct own_egl hidden;

/* A context on this display; one that was made before ends. */
static bool make_context(EGLDisplay display)
{
    own_egl_close(&hidden);
    return !own_egl_open(&hidden, display);
}

static bool is_the_machines_first(void)
{
    char text[41];
    if (!epoxy_has_gl_extension("GL_EXT_memory_object"))
        return false;
    opengl_uuid(text);
    return strcmp(text, getenv(uuid_names[0])) == 0;
}

/* OpenGL on the machine's first device, though CUDA does not see it. */
static bool draw_there(void)
{
    EGLDeviceEXT devices[32];
    EGLint count = 0;
    if (gr_cuda_is_software())
        return make_context(
            eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL));
    if (!epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_device") ||
        !eglQueryDevicesEXT(32, devices, &count))
        return false;
    for (EGLint i = 0; i < count; i++)
        if (make_context(eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, devices[i], NULL)) &&
            is_the_machines_first())
            return true;
    return false;
}

/* What draws, as OpenGL says, and what computes. */
static void assert_names_both(const char *text)
{
    char drawing[41];
    opengl_uuid(drawing);
    assert_says(text, drawing);
    assert_says(text, seen_uuid(0));
}

static void assert_refused(const gr_resource *resource, const char *advice)
{
    ck_assert_ptr_null(resource);
    assert_names_both(gr_last_error()->message);
    assert_says(gr_last_error()->message, advice);
    gr_clear_error();
}

static void assert_unusable(gr_transport transport)
{
    const gr_transport_info *info = gr_gl_probe(transport);
    assert_made(info);
    ck_assert_msg(!info->usable, "%s", info->reason);
    assert_names_both(info->reason);
}

/* CUDA may refuse to register; where it does not, the bytes are right. */
static void try_interop(GLuint name)
{
    gr_resource *resource = gr_from_gl_buffer(name, GR_READ_WRITE);
    printf("interop: %s\n", resource ? "taken" : gr_last_error()->message);
    if (resource)
        check_bytes(resource);
    else
        assert_refused(resource, "CUDA_VISIBLE_DEVICES");
}

static void use_hidden_opengl(void)
{
    const GLuint name = gl_buffer_pattern(SIZE, 1);
    int number = -1;
    assert_fails(gr_gl_cuda_device(&number), GR_ERR_CUDA, -1, "CUDA_VISIBLE_DEVICES");
    assert_refused(gr_gl_buffer_create(SIZE, GR_READ_WRITE, &by_sharing), "CUDA_VISIBLE_DEVICES");
    assert_refused(
        gr_from_gl_buffer_with(name, GR_READ_WRITE, &GR_INIT(gr_gl_options, GR_TRANSPORT_PEER)),
        "GR_TRANSPORT_COPY");
    assert_unusable(GR_TRANSPORT_SHARED);
    assert_unusable(GR_TRANSPORT_PEER);
    try_interop(name);
    share_existing(GR_TRANSPORT_COPY);
    assert_gl_clean();
}

static int hidden_opengl(void)
{
    see_devices();
    if (!draw_there())
        return say_missing("no EGL device draws with the GPU that CUDA does not see");
    CU(DevicePrimaryCtxRetain(&fx.context, 0));
    CU(CtxSetCurrent(fx.context));
    CU(StreamCreate(&fx.stream, CU_STREAM_NON_BLOCKING));
    use_hidden_opengl();
    CU(StreamDestroy(fx.stream));
    CU(DevicePrimaryCtxRelease(0));
    own_egl_close(&hidden);
    return 0;
}

/* A Vulkan of the application's own, which sees all devices. */
static struct {
    PFN_vkGetInstanceProcAddr get;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    char uuid[41];
} own;

#define OWN(name) ((PFN_##name)own.get(own.instance, #name))

static bool make_instance(void)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    void *library = dlopen("libvulkan.so.1", RTLD_NOW);
    void *symbol = library ? dlsym(library, "vkGetInstanceProcAddr") : NULL;
    memcpy(&own.get, &symbol, sizeof(own.get));
    return own.get && OWN(vkCreateInstance)(&info, NULL, &own.instance) == VK_SUCCESS;
}

static bool is_own(VkPhysicalDevice physical)
{
    VkPhysicalDeviceType type = ask_vulkan(own.get, own.instance, physical, own.uuid);
    return gr_cuda_is_software() ? type == VK_PHYSICAL_DEVICE_TYPE_CPU
                                 : strcmp(own.uuid, getenv(uuid_names[0])) == 0;
}

static bool make_device(void)
{
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue};
    VkPhysicalDevice devices[16];
    uint32_t count = 16, i = 0;
    if (OWN(vkEnumeratePhysicalDevices)(own.instance, &count, devices) < VK_SUCCESS)
        return false;
    while (i < count && !is_own(devices[i]))
        i++;
    if (i == count)
        return false;
    own.physical = devices[i];
    return OWN(vkCreateDevice)(own.physical, &info, NULL, &own.device) == VK_SUCCESS;
}

static int hidden_vulkan(void)
{
    see_devices();
    if (!make_instance() || !make_device())
        return say_missing("no Vulkan draws with the device that CUDA does not see");
    const gr_vk_device_desc desc =
        GR_INIT(gr_vk_device_desc, .get_instance_proc_addr = own.get, .instance = own.instance,
                .physical_device = own.physical, .device = own.device);
    const char *const parts[] = {own.uuid, seen_uuid(0), "CUDA_VISIBLE_DEVICES"};
    for (int i = 0; i < 3; i++)
        assert_null(gr_vk_device_wrap(&desc), GR_ERR_UNSUPPORTED, 0, parts[i]);
    OWN(vkDestroyDevice)(own.device, NULL);
    OWN(vkDestroyInstance)(own.instance, NULL);
    return 0;
}

/* ---- The program ----------------------------------------------------------------------------- */

static const struct child children[] = {{"opengl", opengl},
                                        {"vulkan", vulkan},
                                        {"hidden_opengl", hidden_opengl},
                                        {"hidden_vulkan", hidden_vulkan},
                                        {NULL, NULL}};

/* The parent sees the machine as it is, but uses no GPU that it is to leave alone. */
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
    return run_tests(argc, argv, "CUDA_VISIBLE_DEVICES", children);
}
