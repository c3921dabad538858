/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The application's Vulkan device: checks it, finds its CUDA device, and keeps the struct while it
 * is in use.
 */
#include "vk/device/device.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/cuda/device.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/exit.h"
#include "lib/base/live_objects.h"
#include "lib/base/log.h"
#include "lib/cuda/end_after_event.h"
#include "lib/resource/choose_transport.h"
#include "lib/base/struct_size.h"
#include "lib/base/lock.h"

/* ---- Capabilities ---------------------------------------------------------------------------- */

static bool may_copy(const gr_vk_device *device)
{
    return device->transports & GR_TRANSPORT_COPY;
}

static bool exports_semaphores(const gr_vk_device *device, VkSemaphoreType type)
{
    VkSemaphoreTypeCreateInfo timeline = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                          .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkPhysicalDeviceExternalSemaphoreInfo info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
        .pNext = type == VK_SEMAPHORE_TYPE_TIMELINE ? &timeline : NULL,
        .handleType = GR_VK_SEMAPHORE_HANDLE};
    VkExternalSemaphoreProperties properties = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
    device->vk.vkGetPhysicalDeviceExternalSemaphoreProperties(device->physical_device, &info,
                                                              &properties);
    return properties.externalSemaphoreFeatures & VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT;
}

/* The alignment of host memory that the device can import; 0 if it cannot import host memory. */
static VkDeviceSize host_alignment(const gr_vk_device *device)
{
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &host};
    if (!may_copy(device) || !device->vk.vkGetMemoryHostPointerPropertiesEXT ||
        !device->vk.vkGetPhysicalDeviceProperties2)
        return 0;
    device->vk.vkGetPhysicalDeviceProperties2(device->physical_device, &properties);
    return host.minImportedHostPointerAlignment;
}

/* `reaches`: the CUDA context has access to the device. */
static void query_capabilities(gr_vk_device *device, bool reaches)
{
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &timeline};
    device->vk.vkGetPhysicalDeviceMemoryProperties(device->physical_device, &device->memory);
    /*
     * The timeline functions exist only if the device supports the extension. If they do not exist,
     * the feature must not be queried.
     */
    if (device->vk.vkWaitSemaphores && device->vk.vkSignalSemaphore &&
        device->vk.vkGetSemaphoreCounterValue && device->vk.vkGetPhysicalDeviceFeatures2)
        device->vk.vkGetPhysicalDeviceFeatures2(device->physical_device, &features);
    device->has_timeline = timeline.timelineSemaphore;
    device->host_alignment = host_alignment(device);
    if (!reaches || !device->vk.vkGetPhysicalDeviceExternalSemaphoreProperties ||
        !device->vk.GR_VK_GET_SEMAPHORE)
        return;
    device->exports_binary = exports_semaphores(device, VK_SEMAPHORE_TYPE_BINARY);
    device->exports_timeline =
        device->has_timeline && exports_semaphores(device, VK_SEMAPHORE_TYPE_TIMELINE);
}

/* ---- Wrapping -------------------------------------------------------------------------------- */

/* The devices, for messages. */
struct names {
    char vulkan[160];
    char cuda[200];      /* the CUDA device of the Vulkan device */
    char computing[200]; /* the device of the CUDA context */
};

static struct names names_of(const gr_vk_device *device)
{
    struct names names;
    vk_identity_text(&device->identity, names.vulkan, sizeof(names.vulkan));
    gr_device_text(device->cuda, names.cuda, sizeof(names.cuda));
    gr_device_text(device->computing, names.computing, sizeof(names.computing));
    return names;
}

/* ---- Choosing the transport ------------------------------------------------------------------ */

/* What the transports need. */
struct needs {
    gr_vk_device *device;
    char lacks[360];  /* the extensions for sharing memory that are not enabled, if it may copy */
    bool has_context; /* find_context() has succeeded */
    bool reaches;     /* the device of the CUDA context is that device, or accesses its memory */
};

/* Uses the current CUDA context. Without one, retains the primary context of device->cuda. */
static gr_status find_context(struct needs *needs)
{
    gr_vk_device *device = needs->device;
    if (needs->has_context)
        return GR_OK;
    needs->reaches = device->info.cuda_device >= 0;
    if (!needs->reaches)
        GR_TRY(gr_device_first(&device->cuda));
    const struct gr_driver_api *cu = gr_driver();
    device->computing = device->cuda;
    GR_TRY_CUDA(cu->CtxGetCurrent(&device->context.handle), "cuCtxGetCurrent",
                "%s could not query the current CUDA context.", gr_call);
    if (device->context.handle) {
        GR_TRY_CUDA(cu->CtxGetDevice(&device->computing), "cuCtxGetDevice",
                    "%s could not query the device of the current CUDA context.", gr_call);
        gr_context_identify(cu, &device->context);
        if (needs->reaches)
            GR_TRY(gr_device_reaches(device->computing, device->cuda, &needs->reaches));
    } else {
        GR_TRY(gr_context_retain(&device->context, device->cuda,
                                 "no CUDA context is current on this thread"));
    }
    needs->has_context = true;
    return GR_OK;
}

/* Whether the two APIs can share memory, which the transports external and peer need. */
static gr_status check_shares(struct needs *needs, bool is_last)
{
    /* without this function its UUID is unknown, and the function is among what it lacks */
    if (needs->device->info.cuda_device < 0 && needs->device->vk.vkGetPhysicalDeviceProperties2)
        return gr_fail(GR_ERR_UNSUPPORTED, "CUDA has no device with its UUID");
    if (needs->lacks[0])
        return gr_fail(GR_ERR_UNSUPPORTED, "extensions are not enabled: %s", needs->lacks);
    GR_TRY(find_context(needs));
    if (needs->reaches)
        return GR_OK;
    if (!is_last)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "CUDA computes on another device, without peer access to it");
    /* no other transport can use the context, so the program passed the wrong one */
    const struct names names = names_of(needs->device);
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "The Vulkan device %s is %s. The current CUDA context is on %s, which has no "
                   "peer access to that device (cuDeviceCanAccessPeer). Make a context of the "
                   "Vulkan device current, or none, or allow GR_TRANSPORT_COPY in "
                   "gr_vk_device_desc.transports.",
                   names.vulkan, names.cuda, names.computing);
}

static gr_status attempt(void *of, const struct gr_transport_choice *choice, gr_transport transport)
{
    struct needs *needs = of;
    gr_vk_device *device = needs->device;
    device->info.transport = transport;
    if (transport != GR_TRANSPORT_COPY)
        return check_shares(needs, choice->is_last);
    GR_TRY(find_context(needs));
    device->transports = transport;
    device->cuda = device->computing;
    return gr_device_ordinal(device->computing, &device->info.cuda_device);
}

static gr_status choose_transport(struct needs *needs)
{
    gr_vk_device *device = needs->device;
    struct gr_transport_choice choice = {0};
    gr_transport_add(&choice, device->transports, GR_TRANSPORT_EXTERNAL);
    gr_transport_add(&choice, device->transports, GR_TRANSPORT_PEER);
    gr_transport_add(&choice, device->transports, GR_TRANSPORT_COPY);
    if (choice.order[0] != GR_TRANSPORT_EXTERNAL)
        gr_transport_skip(&choice, GR_TRANSPORT_EXTERNAL, "GR_TRANSPORT_EXTERNAL is not allowed");
    GR_TRY(gr_choose_transport(&choice, attempt, needs));
    snprintf(device->why, sizeof(device->why), "%s", choice.reason);
    return GR_OK;
}

static gr_status wrap(gr_vk_device *device, const gr_vk_device_desc *info)
{
    struct needs needs = {.device = device};
    const struct vk_functions *vk = &device->vk;
    vk_load(&device->vk, info->get_instance_proc_addr, info->instance, info->device);
    /*
     * This comes before the check of extensions, because a device of another GPU may also lack the
     * extensions. That check reports this function, if it is missing.
     */
    if (vk->vkGetPhysicalDeviceProperties2) {
        vk_identify(vk->vkGetPhysicalDeviceProperties2, device->physical_device, &device->identity);
        GR_TRY(vk_find_cuda_device(&device->identity, !may_copy(device), &device->cuda,
                                   &device->info.cuda_device));
    }
    GR_TRY(vk_extensions_check(vk, device->physical_device, may_copy(device) ? needs.lacks : NULL,
                               sizeof(needs.lacks)));
    vk->vkGetPhysicalDeviceQueueFamilyProperties(device->physical_device, &device->family_count,
                                                 NULL);
    GR_REFUSE_IF(device->queue_family >= device->family_count,
                 "There is no queue family %u: %s has %u in all. `queue_family` is the family of "
                 "the queue that uses the resources.",
                 device->queue_family, device->identity.name, device->family_count);
    GR_REFUSE_IF(
        device->synchronization2 && (!vk->vkCmdPipelineBarrier2 || !vk->vkQueueSubmit2),
        "`synchronization2` is set, but the device has no %s: enable the feature in vkCreateDevice "
        "(before Vulkan 1.3 with the extension VK_KHR_synchronization2), or leave the field out.",
        vk->vkCmdPipelineBarrier2 ? "vkQueueSubmit2" : "vkCmdPipelineBarrier2");
    GR_TRY(choose_transport(&needs));
    query_capabilities(device, needs.reaches);
    return GR_OK;
}

/* ---- Description ----------------------------------------------------------------------------- */

static const char *semaphores_text(const gr_vk_device *device)
{
    if (device->exports_timeline)
        return "semaphores by " GR_VK_HANDLE_NAME;
    if (device->has_timeline)
        return device->exports_binary ? "binary semaphores by " GR_VK_HANDLE_NAME
                                        ", timeline ones through the host"
                                      : "timeline semaphores through the host";
    return device->exports_binary ? "binary semaphores by " GR_VK_HANDLE_NAME ", no timeline ones"
                                  : "no semaphores";
}

static void describe(gr_vk_device *device)
{
    const struct names names = names_of(device);
    const bool two = vk_device_crosses(device);
    /* where copies pass through; NULL if none is allowed */
    const char *copies = device->transports & GR_TRANSPORT_PEER
                             ? (two ? "from GPU to GPU" : "in memory of the GPU")
                         : may_copy(device) ? "through host memory"
                                            : NULL;
    if (device->info.transport != GR_TRANSPORT_EXTERNAL)
        snprintf(device->text, sizeof(device->text),
                 "Vulkan device %s and %s share by copies %s, since %s; %s", names.vulkan,
                 names.computing, copies, device->why, semaphores_text(device));
    else
        snprintf(device->text, sizeof(device->text),
                 "Vulkan device %s is %s; memory by " GR_VK_HANDLE_NAME ", %s%s%s%s%s%s",
                 names.vulkan, names.cuda, semaphores_text(device),
                 two ? "; CUDA computes on " : "", two ? names.computing : "",
                 two ? ", which reaches buffers by peer access" : "",
                 !copies ? ""
                 : two   ? "; images are copied "
                         : "; objects that CUDA cannot import are copied ",
                 copies ? copies : "");
    device->info.has_semaphores = device->exports_timeline || device->exports_binary;
    device->info.description = device->text;
}

static gr_vk_device *new_device(const gr_vk_device_desc *info)
{
    gr_vk_device *device = calloc(1, sizeof(*device));
    if (!device || !gr_lock_init(&device->lock, GR_LOCK_VULKAN_DEVICE)) {
        free(device);
        return gr_null(gr_fail_memory());
    }
    device->uses = device->holds = device->pins = 1;
    device->physical_device = info->physical_device;
    device->device = info->device;
    device->headless = vk_headless_hold(info->device);
    device->queue = info->queue;
    device->queue_family = info->queue_family;
    device->synchronization2 = info->synchronization2;
    device->transports = info->transports ? info->transports : GR_TRANSPORT_EXTERNAL;
    device->info.cuda_device = -1;
    device->context.primary_of = -1;
    return device;
}

gr_vk_device *gr_vk_device_from_vk(const gr_vk_device_desc *given)
{
    GR_CALL();
    const unsigned used = GR_TRANSPORT_EXTERNAL | GR_TRANSPORT_PEER | GR_TRANSPORT_COPY;
    gr_vk_device_desc info;
    if (vk_take_desc(&info, given, true) != GR_OK || gr_transports_check(info.transports) != GR_OK)
        return NULL;
    if (info.transports && !(info.transports & used))
        return gr_null(gr_fail(GR_ERR_UNSUPPORTED,
                               "`transports` is 0x%x, but Vulkan has only GR_TRANSPORT_EXTERNAL, "
                               "GR_TRANSPORT_PEER and GR_TRANSPORT_COPY: add one of them.",
                               info.transports));
    if (!gr_driver_load())
        return NULL;
    gr_vk_device *device = new_device(&info);
    if (!device)
        return NULL;
    if (wrap(device, &info) != GR_OK) {
        vk_device_drop(device);
        return NULL;
    }
    gr_live_add(GR_LIVE_VK_DEVICE, device);
    describe(device);
    gr_log(GR_LOG_INFO, "%s", device->text);
    return device;
}

/* ---- Lifetime -------------------------------------------------------------------------------- */

void vk_device_unpin(gr_vk_device *device)
{
    if (atomic_fetch_sub_explicit(&device->pins, 1, memory_order_acq_rel) > 1)
        return;
    gr_lock_end(&device->lock);
    vk_headless_drop(device->headless);
    gr_live_free_memory(GR_LIVE_VK_DEVICE, device);
}

void vk_device_drop(gr_vk_device *device)
{
    if (!device || atomic_fetch_sub_explicit(&device->holds, 1, memory_order_acq_rel) > 1)
        return;
    if (device->end_recordings)
        device->end_recordings(device);
    if (device->end_pair)
        device->end_pair(device);
    gr_context_drop(&device->context);
    vk_device_unpin(device);
}

void vk_device_hold_by(gr_vk_device *device, enum vk_semaphore_owner owner)
{
    (owner == VK_OF_DEVICE ? vk_device_pin : vk_device_hold)(device);
}

void vk_device_drop_by(gr_vk_device *device, enum vk_semaphore_owner owner)
{
    (owner == VK_OF_DEVICE ? vk_device_unpin : vk_device_drop)(device);
}

/*
 * Waits until the streams have passed all points of the device. The host functions of a failed or
 * destroyed context never run: their points, and the struct of the device, are leaked.
 */
static void finish_points(gr_vk_device *device)
{
    unsigned polls = 0;
    while (atomic_load(&device->points) > 0 && !gr_is_exiting() &&
           !gr_context_is_gone(&device->context) && !gr_context_has_failed(&device->context)) {
        const bool waits = atomic_load(&device->waiting) > 0 && !atomic_load(&device->gives_up);
        if (waits && device->patience.at == 0)
            device->patience = gr_deadline_in(GR_DRAWN_PATIENCE_MS);
        if (waits && gr_deadline_is_over(&device->patience)) {
            gr_log(GR_LOG_WARNING, "A CUDA stream goes on without its wait for Vulkan, which has "
                                   "not signalled a semaphore for 2 s: the Vulkan device was "
                                   "freed. Was a committed submit never passed to a queue?");
            atomic_store(&device->gives_up, true);
        }
        gr_host_pause(&polls);
    }
}

void vk_device_begin_use(gr_vk_device *device)
{
    atomic_fetch_add_explicit(&device->uses, 1, memory_order_relaxed);
}

void vk_device_end_use(gr_vk_device *device, bool always)
{
    if (atomic_fetch_sub_explicit(&device->uses, 1, memory_order_acq_rel) > 1 ||
        (device->headless && !always))
        return;
    GR_KEEP_ERROR();
    GR_RELAXED();
    finish_points(device); /* first, since freed objects may wait for them in a stream */
    gr_endings_finish(&device->context, device, &device->patience);
}

void gr_vk_device_free(gr_vk_device *device)
{
    GR_CALL();
    if (!device || !gr_live_end(GR_LIVE_VK_DEVICE, device))
        return;
    GR_NO_STATUS();
    vk_device_end_use(device, true);
    vk_device_drop(device);
}

/* ---- Argument checks ------------------------------------------------------------------------- */

gr_status vk_check_device(const gr_vk_device *device)
{
    if (device)
        return gr_live_check(GR_LIVE_VK_DEVICE, device);
    return gr_fail(
        GR_ERR_INVALID_VALUE,
        "The device is NULL: did gr_vk_device_from_vk() fail? Call gr_last_error() right after "
        "that call for the reason.");
}

gr_status vk_check_arguments(const gr_vk_device *device, const void *info)
{
    gr_status status = vk_check_device(device);
    if (status != GR_OK || info)
        return status;
    return gr_fail(GR_ERR_INVALID_VALUE, "The description is NULL: describe what is shared.");
}

gr_status vk_device_refuse_crossing(const gr_vk_device *device, const char *what,
                                    const char *instead)
{
    const struct names names = names_of(device);
    return gr_fail(GR_ERR_UNSUPPORTED,
                   "%s cannot be shared between two devices: the Vulkan device %s is %s, CUDA "
                   "computes on %s. %s",
                   what, names.vulkan, names.cuda, names.computing, instead);
}

const gr_vk_device_info *gr_vk_device_get_info(const gr_vk_device *device)
{
    GR_CALL();
    return vk_check_device(device) == GR_OK ? &device->info : NULL;
}
