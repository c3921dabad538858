/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Vulkan for the tests, see support_vulkan.h: the device, validation messages, and memory. */
#define _GNU_SOURCE
#include "support_vulkan.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "child_check.h"
#include "support_vulkan_case.h"

struct vulkan vk;

/* ---- Validation messages --------------------------------------------------------------------- */

/*
 * Messages that the validation layer reports for correct code, each with the reason. The layer is
 * also known to lose track of a timeline semaphore that is signalled outside of Vulkan.
 */
static const char *const false_positives[] = {
    /*
     * VkFence, VkQueue and VkSemaphore: the layer gives up after 10 s. Its synchronization
     * validation (1.3.239) waits for a signal with a lock that vkSignalSemaphore() needs.
     */
    "-state-timeout ]",
    NULL,
};

static pthread_mutex_t said_lock = PTHREAD_MUTEX_INITIALIZER;
static char said[4000];
static const char *allowed;

static bool is_false_positive(const char *text)
{
    for (int i = 0; false_positives[i]; i++)
        if (strstr(text, false_positives[i]))
            return true;
    return allowed && strstr(text, allowed);
}

/* Records a message of the validation layer. It is called on any thread that calls Vulkan. */
static void record_message(void *user, const char *text)
{
    (void)user;
    pthread_mutex_lock(&said_lock);
    if (!is_false_positive(text)) {
        strncat(said, "\n  ", sizeof(said) - strlen(said) - 1);
        strncat(said, text, sizeof(said) - strlen(said) - 1);
    }
    pthread_mutex_unlock(&said_lock);
}

void vulkan_allow(const char *vuid)
{
    pthread_mutex_lock(&said_lock);
    allowed = vuid;
    pthread_mutex_unlock(&said_lock);
}

static void assert_no_message(void)
{
    static char copy[sizeof(said)];
    pthread_mutex_lock(&said_lock);
    memcpy(copy, said, sizeof(copy));
    said[0] = '\0';
    allowed = NULL;
    pthread_mutex_unlock(&said_lock);
    ck_assert_msg(copy[0] == '\0', "the validation layer says:%s", copy);
}

/* ---- The device ------------------------------------------------------------------------------ */

static gr_vk_headless *headless;
static char why_missing[1024];

static void load_functions(void)
{
#define LOAD(name)                                                                                 \
    vk.name = (PFN_vk##name)vk.h->get_instance_proc_addr(vk.h->instance, "vk" #name);              \
    ck_assert_msg(vk.name, "Vulkan has no vk" #name);
    VULKAN_FUNCTIONS(LOAD)
#undef LOAD
}

/* Where packages install the validation layer. If it is here, grinterop must find it. */
#define LAYER_MANIFEST "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"

static bool may_be_missing(const gr_error *error, gr_status status)
{
    if (strstr(error->message, "VK_LAYER_KHRONOS_validation"))
        return access(LAYER_MANIFEST, F_OK) != 0;
    return status == GR_ERR_NO_DRIVER || status == GR_ERR_UNSUPPORTED ||
           (status == GR_ERR_VULKAN && error->code == VK_ERROR_INCOMPATIBLE_DRIVER);
}

/*
 * Creates the device. Only features that the machine lacks are reasons to skip the cases. Any other
 * error fails the case.
 */
static void make_device(void)
{
    assert_ok(gr_cuda_load(true));
    const gr_vk_headless_options options =
        GR_INIT(gr_vk_headless_options, .cuda_device = fixture_drawing_device(), .validation = true,
                .message = record_message);
    headless = gr_vk_headless_create(&options);
    if (!headless) {
        gr_error error;
        gr_status status = (error = *gr_last_error()).status;
        ck_assert_msg(may_be_missing(&error, status), "%s", error.message);
        snprintf(why_missing, sizeof(why_missing), "no Vulkan device with the validation layer: %s",
                 error.message);
        vk.missing = why_missing;
        gr_clear_error();
        return;
    }
    vk.h = gr_vk_headless_get_info(headless);
    load_functions();
}

PFN_vkVoidFunction vulkan_device_function(VkDevice device, const char *name)
{
    static PFN_vkGetDeviceProcAddr get;
    if (!get)
        get = (PFN_vkGetDeviceProcAddr)vk.h->get_instance_proc_addr(vk.h->instance,
                                                                    "vkGetDeviceProcAddr");
    return get(device, name);
}

static PFN_vkGetDeviceProcAddr replaced_by;

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL replacing(VkInstance instance, const char *name)
{
    return strcmp(name, "vkGetDeviceProcAddr") == 0 ? (PFN_vkVoidFunction)replaced_by
                                                    : vk.h->get_instance_proc_addr(instance, name);
}

gr_vk_device_desc vulkan_desc(PFN_vkGetDeviceProcAddr replacement)
{
    if (replacement)
        replaced_by = replacement;
    return GR_INIT(gr_vk_device_desc, .instance = vk.h->instance,
                   .get_instance_proc_addr = replacement ? replacing : vk.h->get_instance_proc_addr,
                   .physical_device = vk.h->physical_device, .device = vk.h->device,
                   .queue = vk.h->graphics, .queue_family = vk.h->graphics_family);
}

gr_vk_device *vulkan_wrap(void)
{
    gr_vk_device_desc info = vulkan_desc(NULL);
    info.synchronization2 = vk.h->synchronization2;
    info.transports = GR_TRANSPORT_EXTERNAL;
    if (vk.copies)
        info.transports = vk.copies;
    else if (fx.device != 0)
        info.transports |= GR_TRANSPORT_PEER;
    return must_make(gr_vk_device_from_vk(&info));
}

const char *vulkan_image_missing(void)
{
    if (vk.missing)
        return vk.missing;
    return fx.device == 0 ? NULL : "images are not shared between two devices";
}

const char *vulkan_failures_missing(void)
{
    return vk.missing ? vk.missing : failing_kernels_missing();
}

/*
 * Wraps the device for the case. The teardown frees the wrap after everything that the case created
 * with it.
 */
void vulkan_setup(void)
{
    if (!headless && !vk.missing)
        make_device();
    if (vk.missing)
        return;
    vk.wrap = vulkan_wrap();
    vk.exports = gr_vk_device_get_info(vk.wrap)->has_semaphores;
    vulkan_submits_begin();
}

static void end_memory(void);

/* Opens the gates of the CUDA streams first, since Vulkan submits may wait for these streams. */
void vulkan_teardown(void)
{
    if (vk.missing)
        return;
    gates_open();
    vulkan_submits_end();
    CU(CtxSetCurrent(fx.context));
    if (!leaves_all_open)
        CU(CtxSynchronize());
    end_memory();
    gr_vk_device_free(vk.wrap);
    vk.wrap = NULL;
    assert_no_message();
}

static void use_vulkan(void)
{
    vulkan_setup();
    if (!vk.missing) {
        printf("%s\n", gr_vk_device_get_info(vk.wrap)->description);
        GR_AUTO(gr_resource) *resource = must_create(256, GR_READ_WRITE);
        vulkan_write_pattern(gr_vk_buffer(resource), 256, 1);
        gr_buffer *buffer = must_make(gr_map(resource, fx.stream));
        assert_cuda_pattern(buffer, 1);
        must_release(buffer);
        GR_AUTO(gr_semaphore) *drawn = gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE);
        assert_made(drawn);
    }
    vulkan_teardown();
}

TCase *add_vulkan_case(Suite *suite, const char *name)
{
    TCase *made = with_first_use(add_case(suite, name), use_vulkan);
    return with_fixture(made, vulkan_setup, vulkan_teardown);
}

static void copied_setup(void)
{
    vk.copies = GR_TRANSPORT_COPY;
    vulkan_setup();
}

static void peer_setup(void)
{
    vk.copies = GR_TRANSPORT_PEER;
    vulkan_setup();
}

static void copied_teardown(void)
{
    vulkan_teardown();
    vk.copies = 0;
}

TCase *add_copied_vulkan_case(Suite *suite, const char *name)
{
    TCase *made = with_first_use(add_case(suite, name), use_vulkan);
    return with_fixture(made, copied_setup, copied_teardown);
}

TCase *add_staged_vulkan_case(Suite *suite, const char *name)
{
    TCase *made = with_first_use(add_case(suite, name), use_vulkan);
    return with_fixture(made, peer_setup, copied_teardown);
}

void vulkan_end(void)
{
    gr_vk_headless_free(headless);
    headless = NULL;
    vk.missing = "the device has been destroyed";
    assert_no_message();
}

static int keep_library(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size, (void)user;
    if (info->dlpi_name && info->dlpi_name[0] == '/')
        dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    return 0;
}

/*
 * This group is the last one of every program with Vulkan, since the support library comes last in
 * link order.
 */
GROUP("end of Vulkan", add_bare_case)

/*
 * Keeps the drivers loaded, so that a leak checker can name the library that allocated memory and
 * never frees it.
 */
VULKAN_TEST(freeing_the_device_leaves_no_vulkan_object)
{
    dl_iterate_phdr(keep_library, NULL);
    vulkan_end();
}

/* ---- Memory ---------------------------------------------------------------------------------- */

#define MOST_OBJECTS 64

static VkDeviceMemory memories[MOST_OBJECTS];
static VkBuffer buffers[MOST_OBJECTS];
static struct vulkan_host hosts[MOST_OBJECTS];
static int memory_count, buffer_count, host_count;

static uint32_t memory_type(uint32_t types, bool host)
{
    VkPhysicalDeviceMemoryProperties has;
    VkMemoryPropertyFlags wanted =
        host ? VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
             : VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    vk.GetPhysicalDeviceMemoryProperties(vk.h->physical_device, &has);
    for (uint32_t i = 0; i < has.memoryTypeCount; i++)
        if ((types >> i & 1) && (has.memoryTypes[i].propertyFlags & wanted) == wanted)
            return i;
    ck_abort_msg("no memory type in 0x%x is %s", (unsigned)types, host ? "the host's" : "local");
    return 0;
}

VkDeviceMemory vulkan_memory(VkDeviceSize size, uint32_t types, unsigned how, VkBuffer buffer,
                             VkImage image)
{
    ck_assert_int_lt(memory_count, MOST_OBJECTS);
    VkMemoryDedicatedAllocateInfo dedicated = {.sType =
                                                   VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
                                               .buffer = buffer,
                                               .image = image};
    VkExportMemoryAllocateInfo export = {.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                         .pNext = how & MEMORY_DEDICATED ? &dedicated : NULL,
                                         .handleTypes =
                                             VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .pNext = how & MEMORY_EXPORT ? &export : export.pNext,
                                       .allocationSize = size,
                                       .memoryTypeIndex = memory_type(types, how & MEMORY_HOST)};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VK(AllocateMemory(vk.h->device, &info, NULL, &memory));
    memories[memory_count++] = memory;
    return memory;
}

static VkBuffer make_buffer(VkDeviceSize size, bool external, VkMemoryRequirements *needs)
{
    ck_assert_int_lt(buffer_count, MOST_OBJECTS);
    const VkExternalMemoryBufferCreateInfo shared = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .pNext = external ? &shared : NULL,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkBuffer buffer = VK_NULL_HANDLE;
    VK(CreateBuffer(vk.h->device, &info, NULL, &buffer));
    buffers[buffer_count++] = buffer;
    vk.GetBufferMemoryRequirements(vk.h->device, buffer, needs);
    return buffer;
}

VkBuffer vulkan_buffer(VkDeviceSize size, VkMemoryRequirements *needs)
{
    return make_buffer(size, true, needs);
}

struct vulkan_host *vulkan_host(size_t size)
{
    ck_assert_int_lt(host_count, MOST_OBJECTS);
    struct vulkan_host *host = &hosts[host_count++];
    VkMemoryRequirements needs;
    void *bytes = NULL;
    host->size = size;
    host->buffer = make_buffer(size, false, &needs);
    host->memory = vulkan_memory(needs.size, needs.memoryTypeBits, MEMORY_HOST, VK_NULL_HANDLE,
                                 VK_NULL_HANDLE);
    VK(BindBufferMemory(vk.h->device, host->buffer, host->memory, 0));
    VK(MapMemory(vk.h->device, host->memory, 0, VK_WHOLE_SIZE, 0, &bytes));
    host->bytes = bytes;
    memset(bytes, 0xEE, size);
    return host;
}

/*
 * Frees the memory and removes it from the list of objects to free after the case, so that cases
 * that allocate in a loop do not fill the list.
 */
static void forget_memory(VkDeviceMemory memory)
{
    for (int i = 0; i < memory_count; i++)
        if (memories[i] == memory)
            memories[i] = memories[--memory_count];
    vk.FreeMemory(vk.h->device, memory, NULL);
}

static void forget_buffer(VkBuffer buffer)
{
    for (int i = 0; i < buffer_count; i++)
        if (buffers[i] == buffer)
            buffers[i] = buffers[--buffer_count];
    vk.DestroyBuffer(vk.h->device, buffer, NULL);
}

void vulkan_host_end(struct vulkan_host *host)
{
    forget_buffer(host->buffer);
    forget_memory(host->memory);
    if (host == &hosts[host_count - 1])
        host_count--;
}

void vulkan_memory_free(VkDeviceMemory memory)
{
    forget_memory(memory);
}

static void end_memory(void)
{
    while (buffer_count > 0)
        vk.DestroyBuffer(vk.h->device, buffers[--buffer_count], NULL);
    while (memory_count > 0)
        vk.FreeMemory(vk.h->device, memories[--memory_count], NULL);
    host_count = 0;
}

/*
 * The memory is larger than the buffer needs, so that a test fails if the library confuses the two
 * sizes.
 */
struct vulkan_own vulkan_own(VkDeviceSize size, bool dedicated)
{
    dedicated = dedicated || fx.device != 0;
    struct vulkan_own own = {.dedicated = dedicated};
    VkMemoryRequirements needs;
    own.buffer = vulkan_buffer(size, &needs);
    own.memory_size = dedicated ? needs.size : needs.size + 65536;
    own.memory = vulkan_memory(own.memory_size, needs.memoryTypeBits,
                               dedicated ? MEMORY_EXPORT | MEMORY_DEDICATED : MEMORY_EXPORT,
                               dedicated ? own.buffer : VK_NULL_HANDLE, VK_NULL_HANDLE);
    VK(BindBufferMemory(vk.h->device, own.buffer, own.memory, 0));
    return own;
}

void vulkan_own_free(struct vulkan_own *own)
{
    forget_buffer(own->buffer);
    forget_memory(own->memory);
    *own = (struct vulkan_own){.dedicated = false};
}

gr_resource *must_register_own(const struct vulkan_own *own, VkDeviceSize size, unsigned flags)
{
    const gr_vk_buffer_desc info =
        GR_INIT(gr_vk_buffer_desc, .buffer = own->buffer, .memory = own->memory,
                .memory_size = own->memory_size, .size = size, .dedicated = own->dedicated);
    gr_resource *resource = must_make(gr_from_vk_buffer(vk.wrap, &info, flags));
    if (gr_resource_get_info(resource)->transport != GR_TRANSPORT_EXTERNAL)
        vulkan_submits_copy(resource);
    return resource;
}

VkBufferCreateInfo vulkan_buffer_info(VkDeviceSize size)
{
    return (VkBufferCreateInfo){.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                .size = size,
                                .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                         VK_BUFFER_USAGE_TRANSFER_DST_BIT};
}

gr_resource *must_create(VkDeviceSize size, unsigned flags)
{
    const VkBufferCreateInfo info = vulkan_buffer_info(size);
    gr_resource *resource = must_make(gr_create_vk_buffer(vk.wrap, &info, flags));
    if (vk.copies)
        vulkan_submits_copy(resource);
    return resource;
}

int vulkan_memory_fd(VkDeviceMemory memory)
{
    const VkMemoryGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                       .memory = memory,
                                       .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    int fd = -1;
    VK(GetMemoryFdKHR(vk.h->device, &info, &fd));
    ck_assert_int_ge(fd, 0);
    return fd;
}
