/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Memory and semaphores by Windows handles, and the same device in Vulkan and CUDA. */
#include "vk_bytes.h"
#include "win32_vulkan.h"

#include <stdio.h>
#include <string.h>

#include "tests/drivers/follower_driver.h"
#include "tests/support/cuda_symbol.h"

static const struct follower_api *follower;
static unsigned char uuid[16];
static const unsigned char other_uuid[16] = {1}, luid[8] = {2}, other_luid[8] = {3};

/* ---- The driver ------------------------------------------------------------------------------ */

/* Reads the UUID of the Vulkan device from the message that no device matches the CUDA device. */
static bool find_uuid(void)
{
    gr_vk_headless_free(gr_vk_headless_create(NULL));
    const char *text = strstr(gr_last_error()->message, "devices found: ");
    text = text ? strstr(text, "UUID GPU-") : NULL;
    text = text ? text + strlen("UUID GPU-") : NULL;
    unsigned byte;
    for (int i = 0; text && i < 16; i++) {
        text += *text == '-';
        if (sscanf(text, "%2x", &byte) != 1)
            return false;
        uuid[i] = (unsigned char)byte;
        text += 2;
    }
    if (!text)
        printf("no Vulkan device: %s\n", gr_last_error()->message);
    return text;
}

bool begin_driver(const char *program)
{
    if (!plain_driver(program, "follower_driver") || gr_cuda_load(false) != GR_OK)
        return false;
    follower = cuda_symbol("follower_api", 2000);
    if (!follower || !find_uuid())
        return false;
    follower->identify(uuid, luid);
    return true;
}

/* ---- Handles --------------------------------------------------------------------------------- */

static gr_vk_device *wrap(unsigned transports)
{
    gr_vk_device_desc desc = describe_device(transports);
    desc.get_instance_proc_addr = win32_vulkan;
    follower->reset();
    return gr_vk_device_from_vk(&desc);
}

/* Checks the import with this number, and that its handle is closed. */
static const char *check_import(size_t number, const char *call, unsigned type, unsigned flags)
{
    const struct followed *import = NULL;
    DWORD information;
    for (size_t i = 0; follower->nth(i) && !import; i++)
        if (strcmp(follower->nth(i)->call, call) == 0 && number-- == 0)
            import = follower->nth(i);
    REQUIRE(import);
    if (import->target != type || import->flags != flags)
        FAIL("%s got type %u and flags %u", call, import->target, import->flags);
    REQUIRE(!GetHandleInformation(import->handle, &information));
    return NULL;
}

static size_t count_calls(const char *call)
{
    size_t count = 0;
    for (size_t i = 0; follower->nth(i); i++)
        count += strcmp(follower->nth(i)->call, call) == 0;
    return count;
}

static gr_resource *make_buffer(gr_vk_device *device)
{
    return gr_create_vk_buffer(device,
                               &(VkBufferCreateInfo){.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                                     .size = 4096,
                                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT},
                               GR_READ_WRITE);
}

/* A submit needs the semaphores of the device, and so creates them. */
static bool use(gr_resource *resource)
{
    gr_submit *submit = gr_submit_begin(&resource, 1);
    gr_submit_free(submit);
    return submit != NULL;
}

static const char *imports_buffer(void)
{
    GR_AUTO(gr_vk_device) *device = wrap(0);
    SUCCEEDS(device);
    REQUIRE(gr_vk_device_get_info(device)->transport == GR_TRANSPORT_EXTERNAL);
    REQUIRE(gr_vk_device_get_info(device)->has_semaphores);
    REQUIRE(strstr(gr_vk_device_get_info(device)->description, "memory by OPAQUE_WIN32"));
    gr_resource *buffer = make_buffer(device);
    SUCCEEDS(buffer);
    REQUIRE(use(buffer));
    PASS_ON(
        check_import(0, "cuImportExternalMemory", CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32, 0));
    for (size_t i = 0; i < 2; i++) /* the pair of the device */
        PASS_ON(check_import(i, "cuImportExternalSemaphore",
                             CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32, 0));
    REQUIRE(win32.memories == 1 && win32.dedicated == 0);
    gr_resource_free(buffer);
    REQUIRE(win32.memories == 0 && count_calls("cuDestroyExternalMemory") == 1);
    return NULL;
}

static const char *imports_image(void)
{
    GR_AUTO(gr_vk_device) *device = wrap(0);
    SUCCEEDS(device);
    GR_AUTO(gr_resource) *image =
        gr_create_vk_image(device,
                           &(VkImageCreateInfo){.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                                .imageType = VK_IMAGE_TYPE_2D,
                                                .format = VK_FORMAT_R8G8B8A8_UNORM,
                                                .extent = {64, 64, 1},
                                                .mipLevels = 1,
                                                .arrayLayers = 1,
                                                .samples = VK_SAMPLE_COUNT_1_BIT,
                                                .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT},
                           GR_READ_WRITE);
    SUCCEEDS(image);
    REQUIRE(win32.dedicated == 1);
    return check_import(0, "cuImportExternalMemory", CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32,
                        CUDA_EXTERNAL_MEMORY_DEDICATED);
}

static const char *imports_binary_semaphore(void)
{
    GR_AUTO(gr_vk_device) *device = wrap(0);
    SUCCEEDS(device);
    GR_AUTO(gr_semaphore) *semaphore = gr_semaphore_create_vk(device, VK_SEMAPHORE_TYPE_BINARY);
    SUCCEEDS(semaphore);
    return check_import(0, "cuImportExternalSemaphore",
                        CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32, 0);
}

/* CUDA refuses the memory, or a semaphore: nothing remains, and the handle is closed. */
static const char *closes_refused(const char *call, unsigned type)
{
    GR_AUTO(gr_vk_device) *device = wrap(0);
    SUCCEEDS(device);
    follower->answer(call, CUDA_ERROR_OPERATING_SYSTEM);
    gr_resource *buffer = make_buffer(device);
    REQUIRE(!buffer || !use(buffer));
    follower->answer(call, CUDA_SUCCESS);
    REQUIRE(gr_last_error()->status == GR_ERR_CUDA);
    gr_resource_free(buffer);
    REQUIRE(win32.memories == 0);
    return check_import(0, call, type, 0);
}

static const char *draws(void)
{
    GR_AUTO(gr_vk_device) *device = wrap(0);
    PASS_ON(draw_all(device));
    REQUIRE(win32.memories == 0);
    REQUIRE(count_calls("cuSignalExternalSemaphoresAsync") > 0);
    REQUIRE(count_calls("cuLaunchHostFunc") == 0);
    return NULL;
}

/* ---- Extensions ------------------------------------------------------------------------------ */

/* Returns how many extensions for handles the device lists, by this vkGetInstanceProcAddr(). */
static unsigned count_extensions(PFN_vkGetInstanceProcAddr get)
{
    const char *names[16];
    uint32_t count = 16, found = 0;
    gr_vk_device_desc desc = describe_device(0);
    desc.get_instance_proc_addr = get;
    if (gr_vk_device_extensions(&desc, names, &count) != GR_OK)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        found += !strcmp(names[i], VK_KHR_EXTERNAL_MEMORY_WIN32_EXTENSION_NAME) ||
                 !strcmp(names[i], VK_KHR_EXTERNAL_SEMAPHORE_WIN32_EXTENSION_NAME);
    return found;
}

static const char *lists_extensions(void)
{
    REQUIRE(count_extensions(win32_vulkan) == 2);
    return NULL;
}

/* The Vulkan of Wine 8.0 has no handles, which the message says. */
static const char *refuses_without_extensions(void)
{
    const gr_vk_device_desc desc = describe_device(0);
    REQUIRE(!gr_vk_device_from_vk(&desc));
    REQUIRE(gr_last_error()->status == GR_ERR_UNSUPPORTED);
    REQUIRE(strstr(gr_last_error()->message, VK_KHR_EXTERNAL_MEMORY_WIN32_EXTENSION_NAME));
    return NULL;
}

/* ---- The same device ------------------------------------------------------------------------- */

static const char *finds(bool wanted)
{
    VkPhysicalDevice found = VK_NULL_HANDLE;
    gr_vk_device *device = wrap(0);
    gr_status status = gr_vk_physical_device(win32_vulkan, headless->instance, 0, &found);
    REQUIRE((device != NULL) == wanted);
    gr_vk_device_free(device);
    REQUIRE((status == GR_OK) == wanted);
    REQUIRE(!wanted || found == headless->physical_device);
    return NULL;
}

static const char *device_case(const unsigned char *vulkan_uuid, const unsigned char *vulkan_luid,
                               bool wanted)
{
    win32.uuid = vulkan_uuid;
    win32.luid = vulkan_luid;
    const char *wrong = finds(wanted);
    win32.uuid = win32.luid = NULL;
    return wrong;
}

/* ---- All cases ------------------------------------------------------------------------------- */

static void handle_case(const char *name, const char *wrong)
{
    plain_case("handles", name, wrong ? wrong : win32.broken);
    win32.broken = NULL;
}

void handle_cases(void)
{
    win32.below = headless->get_instance_proc_addr;
    win32.device = headless->device;
    handle_case("buffer", imports_buffer());
    handle_case("image", imports_image());
    handle_case("binary semaphore", imports_binary_semaphore());
    handle_case("refused memory", closes_refused("cuImportExternalMemory",
                                                 CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32));
    handle_case("refused semaphore",
                closes_refused("cuImportExternalSemaphore",
                               CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32));
    handle_case("bytes", draws());
    handle_case("extensions", lists_extensions());
    if (count_extensions(win32.below))
        plain_skip("handles", "no extensions", "this Vulkan has them");
    else
        handle_case("no extensions", refuses_without_extensions());
    handle_case("same UUID, other LUID", device_case(NULL, other_luid, true));
    handle_case("other UUID, same LUID", device_case(other_uuid, luid, true));
    handle_case("other UUID and LUID", device_case(other_uuid, other_luid, false));
    handle_case("other UUID, no LUID", device_case(other_uuid, NULL, false));
}
