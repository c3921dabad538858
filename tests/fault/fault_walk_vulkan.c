/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Scenarios of test_fault_walk with Vulkan. */
#include "fault_walk.h"
#include "tests/support/support_vulkan_image.h"

#include <string.h>
#include <unistd.h>

#include <grinterop/image.h>

#define SIZE 4096
#define SIDE 4

/* ---- Devices --------------------------------------------------------------------------------- */

static bool run_headless(void)
{
    const gr_vk_headless_options options = GR_INIT(gr_vk_headless_options, .cuda_device = 0);
    GR_AUTO(gr_vk_headless) *headless = gr_vk_headless_create(&options);
    return done(headless);
}

static bool run_headless_validated(void)
{
    const gr_vk_headless_options options =
        GR_INIT(gr_vk_headless_options, .cuda_device = 0, .validation = true);
    GR_AUTO(gr_vk_headless) *headless = gr_vk_headless_create(&options);
    return done(headless);
}

static gr_vk_device_desc device_desc(bool synchronization2)
{
    gr_vk_device_desc desc = vulkan_desc(NULL);
    desc.synchronization2 = synchronization2;
    return desc;
}

static bool run_questions(void)
{
    const char *names[64];
    uint32_t count = 64;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    const gr_vk_device_desc desc = device_desc(false);
    bool good = ok(gr_vk_instance_extensions(names, &count));
    count = 64;
    good = good && ok(gr_vk_device_extensions(&desc, names, &count)) &&
           ok(gr_vk_physical_device(vk.h->get_instance_proc_addr, vk.h->instance,
                                    fixture_drawing_device(), &physical));
    return good;
}

static bool wrap(const gr_vk_device_desc *desc)
{
    gr_vk_device *device = gr_vk_device_from_vk(desc);
    bool good = done(device);
    gr_vk_device_free(device);
    return good;
}

static bool run_wrap(void)
{
    const gr_vk_device_desc desc = device_desc(vk.h->synchronization2);
    return wrap(&desc);
}

static bool run_wrap_without_instance(void)
{
    gr_vk_device_desc desc = device_desc(vk.h->synchronization2);
    desc.get_instance_proc_addr = NULL;
    desc.instance = VK_NULL_HANDLE;
    return wrap(&desc);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static bool map_once(gr_resource *resource)
{
    gr_buffer *buffer = gr_map(resource, fx.stream);
    return done(buffer) && walk_release(buffer);
}

/* The semaphore value that the Vulkan queue waits for. */
static struct {
    VkSemaphore semaphore;
    uint64_t value;
} awaited;

static void note_wait(const gr_submit *submit)
{
    if (!submit || submit->wait_count == 0)
        return;
    awaited.semaphore = gr_vk_semaphore(submit->waits[0]);
    awaited.value = submit->wait_values[0];
}

/*
 * If the signal failed, the program signals instead, since the queue would otherwise wait forever.
 */
static void give_signal(void)
{
    uint64_t value = 0;
    const VkSemaphoreSignalInfo signal = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                          .semaphore = awaited.semaphore,
                                          .value = awaited.value};
    if (!awaited.semaphore)
        return;
    VK(GetSemaphoreCounterValue(vk.h->device, awaited.semaphore, &value));
    if (value < awaited.value)
        VK(SignalSemaphore(vk.h->device, &signal));
}

static bool is_idle(CUstream stream)
{
    return fx.cu->StreamQuery(stream) == CUDA_SUCCESS;
}

/*
 * Waits for CUDA, which may wait for Vulkan, and for Vulkan, which may wait for the failed signal.
 */
static void wait_for_all(void)
{
    for (int i = 0; i < 200 && !(is_idle(fx.stream) && is_idle(fx.other)); i++)
        sleep_ms(1);
    give_signal();
    CU(CtxSynchronize());
    give_signal();
    VK(QueueWaitIdle(vk.h->graphics));
    awaited.semaphore = VK_NULL_HANDLE;
}

static bool submit_with(gr_resource *resource, const gr_vk_submit_desc *desc)
{
    GR_AUTO(gr_submit) *submit = gr_submit_begin(&resource, 1);
    note_wait(submit);
    return done(submit) && ok(gr_vk_submit(submit, desc));
}

/* Submits an empty VkSubmitInfo2 of the program, so that only what grinterop adds has an effect. */
static bool submit_nothing(gr_resource *resource)
{
    const VkSubmitInfo2 nothing = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
    const gr_vk_use use = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                                  .access = VK_ACCESS_2_TRANSFER_WRITE_BIT,
                                  .layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    return submit_with(resource,
                       &GR_INIT(gr_vk_submit_desc, .info = &nothing, .first = &use, .last = &use));
}

static bool take_turns(gr_resource *resource)
{
    if (gr_resource_get_info(resource)->kind == GR_KIND_IMAGE &&
        !ok(gr_vk_hand_over(&resource, 1, VK_IMAGE_LAYOUT_UNDEFINED)))
        return false;
    return map_once(resource) && submit_nothing(resource) && map_once(resource) &&
           submit_nothing(resource) && ok(gr_resource_wait(resource, WALK_SOON));
}

static gr_resource *make_buffer(gr_vk_device *device)
{
    const VkBufferCreateInfo info = vulkan_buffer_info(SIZE);
    return gr_create_vk_buffer(device, &info, GR_READ_WRITE);
}

static gr_resource *make_of_tensor(gr_vk_device *device)
{
    const int64_t size = SIZE;
    const VkBufferCreateInfo info = vulkan_buffer_info(SIZE);
    GR_AUTO(gr_tensor) *tensor =
        gr_tensor_create(&GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = &size,
                                  .exportable = true),
                         fx.stream);
    gr_resource *made =
        tensor ? gr_create_vk_buffer_of(device, &info, tensor, GR_READ_WRITE) : NULL;
    return made;
}

/*
 * Uses a device that is wrapped for this run: once the semaphores of a device have lost a signal,
 * they fail forever, as the message says.
 */
static bool on_described(gr_resource *(*make)(gr_vk_device *device), const gr_vk_device_desc *desc)
{
    GR_AUTO(gr_vk_device) *device = gr_vk_device_from_vk(desc);
    GR_AUTO(gr_resource) *resource = device ? make(device) : NULL;
    bool good = done(resource) && take_turns(resource);
    wait_for_all();
    /* the failed call may have been the one that hands a new image over */
    if (resource && walk_has_failed() && gr_resource_get_info(resource)->kind == GR_KIND_IMAGE)
        (void)gr_vk_hand_over(&resource, 1, VK_IMAGE_LAYOUT_UNDEFINED);
    walk_again(resource);
    wait_for_all();
    return good;
}

static bool on_new_device(gr_resource *(*make)(gr_vk_device *device), bool synchronization2)
{
    const gr_vk_device_desc desc = device_desc(synchronization2);
    return on_described(make, &desc);
}

static bool run_buffer(void)
{
    return on_new_device(make_buffer, false);
}

static bool run_buffer2(void)
{
    return on_new_device(make_buffer, true);
}

static const char *no_synchronization2(void)
{
    return vk.h->synchronization2 ? NULL : "the device has no synchronization2";
}

static struct vulkan_own own;

static gr_resource *take_buffer(gr_vk_device *device)
{
    const gr_vk_buffer_desc desc =
        GR_INIT(gr_vk_buffer_desc, .buffer = own.buffer, .memory = own.memory,
                .memory_size = own.memory_size, .size = SIZE, .dedicated = own.dedicated);
    return gr_from_vk_buffer(device, &desc, GR_READ_WRITE);
}

static bool run_own_buffer(void)
{
    own = vulkan_own(SIZE, false);
    bool good = on_new_device(take_buffer, false);
    vulkan_own_free(&own);
    return good;
}

/* After an error the caller must still own the descriptor. */
static bool run_external(void)
{
    own = vulkan_own(SIZE, false);
    const gr_external_part_desc whole = GR_INIT(gr_external_part_desc, .size = SIZE),
                                half = GR_INIT(gr_external_part_desc, .size = SIZE / 2);
    const gr_external_memory_desc desc =
        GR_INIT(gr_external_memory_desc, .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                .fd = vulkan_memory_fd(own.memory), .size = own.memory_size,
                .dedicated = own.dedicated, .part = &whole);
    gr_resource *resource = gr_from_external_memory(&desc, GR_READ_WRITE);
    gr_resource *part = resource ? gr_from_same_memory(resource, &half, GR_READ_WRITE) : NULL;
    bool good = done(resource) && done(part) &&
                ok(gr_resource_set_sync(part, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE)) &&
                map_once(part);
    if (!resource)
        close(desc.fd);
    gr_resource_free(part);
    gr_resource_free(resource);
    vulkan_own_free(&own);
    return good;
}

/* ---- Images ---------------------------------------------------------------------------------- */

static gr_resource *make_image(gr_vk_device *device)
{
    const VkImageCreateInfo info = vulkan_image_info(vulkan_format(VK_FORMAT_R8G8B8A8_UNORM),
                                                     vulkan_shape("2D"), SIDE, SIDE, 1, 0);
    return gr_create_vk_image(device, &info, GR_READ_WRITE);
}

static bool run_image(void)
{
    return on_new_device(make_image, false);
}

static struct vulkan_image own_image;

static gr_resource *take_image(gr_vk_device *device)
{
    own_image.own.create_info = &own_image.info;
    return gr_from_vk_image(device, &own_image.own, GR_READ_WRITE);
}

static bool run_own_image(void)
{
    own_image = vulkan_image_unregistered(VK_FORMAT_R8G8B8A8_UNORM, "2D", SIDE, SIDE, 1, false);
    bool good = on_new_device(take_image, false);
    vulkan_image_own_free(&own_image);
    return good;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

static bool by_copies(gr_resource *(*make)(gr_vk_device *device), PFN_vkGetInstanceProcAddr get,
                      unsigned transports)
{
    gr_vk_device_desc desc = device_desc(false);
    desc.get_instance_proc_addr = get;
    desc.transports = transports;
    return on_described(make, &desc);
}

static bool run_of_tensor(void)
{
    return on_new_device(make_of_tensor, false);
}

static bool run_copied_buffer(void)
{
    return by_copies(make_buffer, vk.h->get_instance_proc_addr, GR_TRANSPORT_COPY);
}

static gr_resource *make_write_only(gr_vk_device *device)
{
    const VkBufferCreateInfo info = vulkan_buffer_info(SIZE);
    return gr_create_vk_buffer(device, &info, GR_WRITE_DISCARD);
}

static bool run_copied_output(void)
{
    return by_copies(make_write_only, vk.h->get_instance_proc_addr, GR_TRANSPORT_COPY);
}

static bool run_copied_image(void)
{
    return by_copies(make_image, vk.h->get_instance_proc_addr, GR_TRANSPORT_COPY);
}

static bool run_peer_buffer(void)
{
    return by_copies(make_buffer, vk.h->get_instance_proc_addr, GR_TRANSPORT_PEER);
}

static bool run_peer_image(void)
{
    return by_copies(make_image, vk.h->get_instance_proc_addr, GR_TRANSPORT_PEER);
}

/* The program does not name the memory, so CUDA cannot import it. */
static gr_resource *take_hidden(gr_vk_device *device)
{
    const gr_vk_buffer_desc desc = GR_INIT(gr_vk_buffer_desc, .buffer = own.buffer, .size = SIZE);
    return gr_from_vk_buffer(device, &desc, GR_WRITE_DISCARD);
}

static bool run_hidden_buffer(void)
{
    own = vulkan_own(SIZE, false);
    bool good = by_copies(take_hidden, vk.h->get_instance_proc_addr, GR_TRANSPORT_ANY);
    vulkan_own_free(&own);
    return good;
}

static bool run_image_by_any(void)
{
    return by_copies(make_image, vk.h->get_instance_proc_addr, GR_TRANSPORT_ANY);
}

/* A device that imports no host memory, so that Vulkan allocates it. */
static PFN_vkVoidFunction VKAPI_CALL without_import(VkDevice device, const char *name)
{
    PFN_vkGetDeviceProcAddr get = (PFN_vkGetDeviceProcAddr)vk.h->get_instance_proc_addr(
        vk.h->instance, "vkGetDeviceProcAddr");
    return strcmp(name, "vkGetMemoryHostPointerPropertiesEXT") == 0 ? NULL : get(device, name);
}

static PFN_vkVoidFunction VKAPI_CALL instance_without_import(VkInstance instance, const char *name)
{
    return strcmp(name, "vkGetDeviceProcAddr") == 0 ? (PFN_vkVoidFunction)without_import
                                                    : vk.h->get_instance_proc_addr(instance, name);
}

static gr_resource *fly(gr_vk_device *device, unsigned flags)
{
    const gr_vk_buffer_desc desc =
        GR_INIT(gr_vk_buffer_desc, .buffer = own.buffer, .size = SIZE, .in_flight = 3);
    return gr_from_vk_buffer(device, &desc, flags);
}

static gr_resource *fly_output(gr_vk_device *device)
{
    return fly(device, GR_WRITE_DISCARD);
}

/* Vulkan has such a buffer first. */
static gr_resource *fly_input(gr_vk_device *device)
{
    gr_resource *made = fly(device, GR_READ_ONLY);
    if (!made || ok(gr_vk_hand_over(&made, 1, VK_IMAGE_LAYOUT_UNDEFINED)))
        return made;
    gr_resource_free(made);
    return NULL;
}

static bool run_flying(gr_resource *(*make)(gr_vk_device *device), PFN_vkGetInstanceProcAddr get,
                       unsigned transports)
{
    own = vulkan_own(SIZE, false);
    bool good = by_copies(make, get, transports);
    vulkan_own_free(&own);
    return good;
}

static bool run_flying_output(void)
{
    return run_flying(fly_output, vk.h->get_instance_proc_addr, GR_TRANSPORT_PEER);
}

static bool run_flying_input(void)
{
    return run_flying(fly_input, instance_without_import, GR_TRANSPORT_COPY);
}

static bool run_copied_by_mapping(void)
{
    return by_copies(make_buffer, instance_without_import, GR_TRANSPORT_COPY);
}

/* ---- One batch ------------------------------------------------------------------------------- */

#define BATCH 7

static bool put(gr_resource **to, gr_resource *made)
{
    *to = made;
    return done(made);
}

static bool make_batch(gr_vk_device *shared, gr_vk_device *copied, gr_resource *of[BATCH])
{
    const gr_gl_options flying =
        GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_PEER, .in_flight = 2);
    const gr_gl_image_desc image =
        GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D, .internal_format = GL_RGBA8,
                .width = SIDE, .height = SIDE);
    return put(&of[0], gr_create_gl_buffer(SIZE, GR_READ_WRITE, &by_interop)) &&
           put(&of[1], gr_create_gl_image(&image, GR_READ_WRITE, &by_interop)) &&
           put(&of[2], gr_create_gl_buffer(SIZE, GR_READ_WRITE, &by_copy)) &&
           put(&of[3], gr_create_gl_image(&image, GR_READ_WRITE, &by_copy)) &&
           put(&of[4], gr_create_gl_buffer(SIZE, GR_WRITE_DISCARD, &flying)) &&
           put(&of[5], make_buffer(shared)) && put(&of[6], make_write_only(copied));
}

static bool map_batch(gr_resource *const of[BATCH])
{
    gr_buffer *buffers[BATCH] = {NULL};
    bool good = ok(gr_map_many(of, BATCH, fx.stream, NULL, buffers)) &&
                ok(gr_buffer_release_many(buffers, BATCH, fx.stream, NULL));
    for (int i = 0; i < BATCH; i++)
        if (buffers[i])
            gr_buffer_release_later(buffers[i]);
    return good;
}

/* Resources of each transport in one call: if one of them fails, all others are undone. */
static bool run_batch(void)
{
    gr_resource *of[BATCH] = {NULL};
    gr_vk_device_desc desc = device_desc(false);
    gr_vk_device *shared = gr_vk_device_from_vk(&desc);
    desc.transports = GR_TRANSPORT_COPY;
    gr_vk_device *copied = shared ? gr_vk_device_from_vk(&desc) : NULL;
    bool made = done(shared && copied) && make_batch(shared, copied, of);
    bool good = made && map_batch(of) && map_batch(of);
    if (made && walk_has_failed() && !map_batch(of))
        complain("the same batch fails again: %s", gr_last_error()->message);
    wait_for_all();
    for (int i = 0; i < BATCH; i++)
        walk_again(of[i]);
    wait_for_all();
    free_resources(of, BATCH);
    gr_vk_device_free(copied);
    gr_vk_device_free(shared);
    return good;
}

/* ---- Semaphores ------------------------------------------------------------------------------ */

static bool signal_and_wait(gr_semaphore *semaphore)
{
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = semaphore, .value = 1);
    awaited.semaphore = gr_vk_semaphore(semaphore);
    awaited.value = point.value;
    return ok(gr_semaphore_signal(&point, 1, fx.stream)) &&
           ok(gr_semaphore_wait(&point, 1, fx.other));
}

static bool run_semaphore(void)
{
    char text[256];
    const gr_vk_device_desc desc = device_desc(false);
    GR_AUTO(gr_vk_device) *device = gr_vk_device_from_vk(&desc);
    GR_AUTO(gr_semaphore) *semaphore =
        device ? gr_semaphore_create_vk(device, VK_SEMAPHORE_TYPE_TIMELINE) : NULL;
    bool good = done(semaphore) && signal_and_wait(semaphore);
    if (semaphore)
        gr_semaphore_describe(semaphore, text, sizeof(text));
    wait_for_all();
    return good;
}

static bool from_own(bool through_host)
{
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    VkSemaphore own = VK_NULL_HANDLE;
    VK(CreateSemaphore(vk.h->device, &info, NULL, &own));
    const gr_vk_semaphore_desc desc =
        GR_INIT(gr_vk_semaphore_desc, .semaphore = own, .type = VK_SEMAPHORE_TYPE_TIMELINE,
                .through_host = through_host);
    gr_semaphore *semaphore = gr_semaphore_from_vk(vk.wrap, &desc);
    bool good = done(semaphore) && signal_and_wait(semaphore);
    wait_for_all();
    gr_semaphore_free(semaphore);
    vk.DestroySemaphore(vk.h->device, own, NULL);
    return good;
}

static bool run_own_semaphore(void)
{
    return from_own(true);
}

const struct scenario walk_vulkan[] = {
    {"Vulkan instance and device", .run = run_headless},
    {"the same with validation", .run = run_headless_validated},
    {"Vulkan queries", .run = run_questions},
    {"a Vulkan device", .run = run_wrap},
    {"a device without its instance", .run = run_wrap_without_instance},
    {"a Vulkan buffer", .run = run_buffer},
    {"a Vulkan buffer in the memory of a tensor", .run = run_of_tensor},
    {"a buffer with synchronization2", .run = run_buffer2, .missing = no_synchronization2},
    {"a buffer created by the program", .run = run_own_buffer},
    {"memory from a descriptor", .run = run_external},
    {"a Vulkan image", .run = run_image},
    {"an image created by the program", .run = run_own_image},
    {"a copied Vulkan buffer", .run = run_copied_buffer},
    {"a copied buffer for writing", .run = run_copied_output},
    {"a copied Vulkan image", .run = run_copied_image},
    {"a Vulkan buffer by peer", .run = run_peer_buffer},
    {"a Vulkan image by peer", .run = run_peer_image},
    {"a buffer of the program by peer", .run = run_hidden_buffer},
    {"frames in flight that CUDA writes", .run = run_flying_output},
    {"frames in flight that CUDA reads", .run = run_flying_input},
    {"a Vulkan image by any transport", .run = run_image_by_any},
    {"a buffer copied by mapped memory", .run = run_copied_by_mapping},
    {"a batch of all transports", .run = run_batch, .missing = walk_no_sharing, .rules = WALK_FEW},
    {"a Vulkan semaphore", .run = run_semaphore},
    {"a semaphore created by the program", .run = run_own_semaphore},
    {.name = NULL},
};
