/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Vulkan devices for the resources of vk.h: the VkDevice of your program, or one without a window
 * that grinterop creates.
 *
 * Vulkan is called through your vkGetInstanceProcAddr: grinterop is not linked with the Vulkan
 * loader, and opens libvulkan.so.1 (vulkan-1.dll) only if you pass none. Only the submits and
 * gr_vk_hand_over() use a queue.
 */
#ifndef GR_VK_DEVICE_H
#define GR_VK_DEVICE_H

#include <vulkan/vulkan_core.h>

#include <grinterop/gr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The device ------------------------------------------------------------------------------ */

/* A Vulkan device, and the CUDA device that uses its resources. */
typedef struct gr_vk_device gr_vk_device;

/* The Vulkan device for gr_vk_device_from_vk(). */
typedef struct gr_vk_device_desc {
    size_t struct_size;

    /*
     * Both look up the Vulkan functions. Leave both NULL if you do not have the instance, and the
     * device is one of the Vulkan loader: the functions that libvulkan.so.1 (vulkan-1.dll) exports
     * are called then.
     */
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    VkInstance instance;

    VkPhysicalDevice physical_device; /* required */
    VkDevice device;                  /* required */

    /* The queue that uses the resources. VK_NULL_HANDLE: each gr_vk_submit() names a queue. */
    VkQueue queue;
    uint32_t queue_family; /* the family of that queue; 0 is a valid family */

    /*
     * The feature synchronization2 is enabled. If false, stages and accesses beyond 32 bits are
     * refused, and gr_vk_submit() uses vkQueueSubmit. grinterop cannot check this field; the
     * validation layer reports a wrong value.
     */
    bool synchronization2;

    /*
     * The allowed transports: gr_transport bits, or GR_TRANSPORT_ANY. 0: GR_TRANSPORT_EXTERNAL.
     * With GR_TRANSPORT_PEER or GR_TRANSPORT_COPY objects that CUDA cannot import are copied, with
     * GR_TRANSPORT_COPY on any Vulkan device; see gr_vk_device_from_vk().
     */
    unsigned transports;
} gr_vk_device_desc;

/*
 * Finds the VkPhysicalDevice of a CUDA device, before you create your VkDevice.
 *
 *     VkPhysicalDevice physical_device;
 *     gr_vk_physical_device(vkGetInstanceProcAddr, instance, 0, &physical_device);
 *
 * The devices are matched by UUID, because Vulkan and CUDA order devices differently. `cuda_device`
 * is the CUDA ordinal. For the software CUDA driver the Vulkan device is lavapipe (Mesa).
 *
 * Needs    an instance of Vulkan 1.1 (VkApplicationInfo.apiVersion, which grinterop cannot check),
 *          or VK_KHR_get_physical_device_properties2
 *
 * Errors, with *physical_device unchanged:
 *     GR_ERR_INVALID_VALUE  an argument is NULL, or CUDA has no such device
 *     GR_ERR_UNSUPPORTED    no Vulkan device matches; the message lists the devices that were found
 *     GR_ERR_VULKAN         the devices could not be listed
 */
GR_API gr_status gr_vk_physical_device(PFN_vkGetInstanceProcAddr get_instance_proc_addr,
                                       VkInstance instance, int cuda_device,
                                       VkPhysicalDevice *physical_device);

/*
 * Lists the extensions to enable in vkCreateInstance and in vkCreateDevice.
 *
 *     uint32_t count = 0;
 *     gr_vk_instance_extensions(NULL, &count);                 how many
 *     gr_vk_instance_extensions(names, &count);                `names` has room for `count`
 *
 * Device extensions are listed only if the device supports them, so you can enable all listed
 * extensions; gr_vk_device_from_vk() reports missing extensions. Only get_instance_proc_addr,
 * instance and physical_device of `desc` are read: the device need not exist yet. NULL as `desc`
 * lists all device extensions that grinterop can use, for programs that have not chosen a physical
 * device: enable those that yours supports. Also enable timelineSemaphore: with a
 * VkPhysicalDeviceTimelineSemaphoreFeatures in VkDeviceCreateInfo.pNext.
 *
 * Valid    the names are static
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  `count` or a required field is NULL, or *count is too small
 *     GR_ERR_VULKAN         the device did not list its extensions
 */
GR_API gr_status gr_vk_instance_extensions(const char *names[], uint32_t *count);
GR_API gr_status gr_vk_device_extensions(const gr_vk_device_desc *desc, const char *names[],
                                         uint32_t *count);

/*
 * Wraps your VkDevice, and finds the CUDA device on the same GPU.
 *
 * The wrap uses the current CUDA context, which must belong to that device or to a device with peer
 * access to it (cuDeviceCanAccessPeer). If no context is current, the primary context of that
 * device is retained until the wrap is freed. If the context belongs to another device, only
 * semaphores and buffers with dedicated memory, as those of gr_create_vk_buffer(), can be shared.
 * The memory stays on the Vulkan device.
 *
 * desc->transports may allow copies. Each resource then has the first transport that is allowed and
 * works; gr_resource_describe() says which and why:
 *
 *     GR_TRANSPORT_EXTERNAL   CUDA imports the memory, without a copy
 *     GR_TRANSPORT_PEER       Vulkan copies between the object and memory of the Vulkan device that
 *                             CUDA imports. Nothing passes through host memory
 *     GR_TRANSPORT_COPY       the bytes pass through host memory
 *
 * So with GR_TRANSPORT_ANY objects are copied that were not made for export: their `memory` is
 * VK_NULL_HANDLE, or the driver refuses to export or import them; and images and buffers without
 * dedicated memory if CUDA computes on another device. Leave `memory` VK_NULL_HANDLE for them: the
 * NVIDIA driver (580) exports memory that was not allocated for export, and CUDA then sees other
 * bytes than Vulkan (seen on an H100). Without GR_TRANSPORT_EXTERNAL everything is copied. With
 * GR_TRANSPORT_COPY the Vulkan device may also be another vendor's GPU, another GPU without peer
 * access or the CPU, or lack the extensions; it then copies everything. With copies:
 *
 *     context   the current CUDA context. If there is none, the primary context of the CUDA device
 *               on the same GPU, or else of the first CUDA device
 *     submits   also copy: a submit with `last` copies what CUDA reads, before the next map; a
 *               submit with `first` copies what CUDA wrote. gr_vk_submit_fill() adds
 *               VK_PIPELINE_STAGE_TRANSFER_BIT to the stages that wait
 *     map       returns GR_ERR_STATE for a new resource of gr_from_vk_buffer() until a submit has
 *               handed it over, unless it is write_discard
 *     usage     must have TRANSFER_SRC, except for write_discard, and TRANSFER_DST, except for
 *               read_only. grinterop adds these usages to objects that it creates
 *     parts     maps, releases and submits with `first` copy only the mapped part of a buffer.
 *               Submits with `last` copy the whole buffer, and so does gr_vk_cmd_from_cuda(): the
 *               other bytes of a write_discard buffer become undefined
 *     family    no ownership is transferred: use a resource in one queue family, or create it with
 *               VK_SHARING_MODE_CONCURRENT
 *     close     loses bytes that no submit took back. The Vulkan work with the resource must be
 *               done
 *     memory    one copy in CUDA memory, and one in host memory or, with GR_TRANSPORT_PEER, in
 *               memory of the Vulkan device. If CUDA computes there, a buffer has the latter only
 *     waits     no thread waits. If CUDA has no access to the Vulkan device, host functions in the
 *               streams wait, and one of them may block those of other streams: use one stream, or
 *               see gr_vk_semaphore_desc.through_host
 *
 * Owner    the caller frees it with gr_vk_device_free()
 * Valid    instance, device and queue must outlive the wrap and everything created from it.
 *          grinterop cannot check this: using a destroyed VkDevice crashes. The wrap itself keeps a
 *          device of gr_vk_headless_create() alive
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  a required field is NULL, or only one of instance and
 *                           get_instance_proc_addr; the device has no such queue family; the
 *                           current CUDA context belongs to a device without peer access, and
 *                           GR_TRANSPORT_COPY is not allowed; synchronization2 is set but its
 *                           functions are missing; `transports` has unknown bits
 *     GR_ERR_UNSUPPORTED    without copies: no CUDA device matches, or extensions are missing (the
 *                           message lists all of them). `transports` allows no Vulkan transport,
 *                           or the Vulkan loader is needed and missing
 *     GR_ERR_VULKAN         a function of Vulkan 1.0 was not found
 */
GR_API gr_vk_device *gr_vk_device_from_vk(const gr_vk_device_desc *desc);

/*
 * Releases the caller's reference. Objects created from the device keep it alive.
 *
 * At the end of a program wait until your queues are idle, free this object and the resources and
 * semaphores of the device in any order, and destroy the VkDevice last.
 *
 * Waits    if it frees the last of these objects: for the CUDA work with freed objects, and at most
 *          2 s for Vulkan work that this CUDA work or a copied resource needs. If a resource, its
 *          buffer or a semaphore is the last, its free or release waits, unless the VkDevice is of
 *          gr_vk_headless_create(): grinterop destroys such a device after the work. Objects whose
 *          stream captures a graph end after the capture, and need the VkDevice until then
 */
GR_API void gr_vk_device_free(gr_vk_device *device);

/* The properties of a wrapped device. Owned by the device. */
typedef struct gr_vk_device_info {
    /*
     * The ordinal of the CUDA device on the GPU of the Vulkan device; for GR_TRANSPORT_COPY, of the
     * device on which CUDA computes.
     */
    int cuda_device;

    /*
     * CUDA can import the semaphores of the device. If it cannot (lavapipe), timelines still work:
     * the host waits and signals for the streams.
     */
    bool has_semaphores;

    /* One line: the names, the UUID, and how and why memory and semaphores are shared. */
    const char *description;

    /*
     * The first transport that the device supports: GR_TRANSPORT_EXTERNAL, GR_TRANSPORT_PEER or
     * GR_TRANSPORT_COPY. Resources for which it does not work have another one;
     * gr_resource_get_info() returns that of each resource.
     */
    gr_transport transport;
} gr_vk_device_info;

/*
 * The properties of a device.
 *
 * Valid    until gr_vk_device_free()
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  `device` is NULL
 */
GR_API const gr_vk_device_info *gr_vk_device_get_info(const gr_vk_device *device);

/* ---- Vulkan without a window ----------------------------------------------------------------- */

/* A Vulkan device for tests, tools and programs without a window. */
typedef struct gr_vk_headless gr_vk_headless;

/* Options of gr_vk_headless_create(). */
typedef struct gr_vk_headless_options {
    size_t struct_size;
    int cuda_device; /* the CUDA ordinal of the device */
    bool validation; /* enable the Khronos validation layer */

    /*
     * Called with `user` for each warning and error of the layer, on any thread that calls Vulkan.
     * NULL: the messages are logged as warnings.
     */
    void (*message)(void *user, const char *text);
    void *user;
} gr_vk_headless_options;

/* The created objects. Owned by the library. */
typedef struct gr_vk_headless_info {
    /* As in gr_vk_device_desc. */
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    VkInstance instance;
    VkPhysicalDevice physical_device;
    VkDevice device;

    /*
     * A queue of a graphics family, of a compute family without graphics, and of a transfer family
     * without graphics and compute. If the device has no such family: VK_NULL_HANDLE and
     * VK_QUEUE_FAMILY_IGNORED.
     */
    VkQueue graphics, compute, transfer;
    uint32_t graphics_family, compute_family, transfer_family;
    bool synchronization2; /* for gr_vk_device_desc.synchronization2 */
} gr_vk_headless_info;

/*
 * Creates a Vulkan device on the GPU of a CUDA device, with everything that grinterop uses.
 *
 *     gr_vk_headless *headless = gr_vk_headless_create(NULL);
 *     gr_vk_device *device = gr_vk_device_from_headless(headless, 0);
 *     const gr_vk_headless_info *vulkan = gr_vk_headless_get_info(headless);
 *
 * Loads libvulkan.so.1 and creates a Vulkan 1.3 device with timeline semaphores and
 * synchronization2. With an older driver or loader the device has an older version, too, and has
 * synchronization2 only as an extension, with functions ending in KHR. NULL as `options` means CUDA
 * device 0.
 *
 * Owner    the caller frees it with gr_vk_headless_free(), after the objects created from it
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  there is no such CUDA device
 *     GR_ERR_UNSUPPORTED    there is no Vulkan driver, or none for that device: the message lists
 *                           the devices found, and what may hide other devices
 */
GR_API gr_vk_headless *gr_vk_headless_create(const gr_vk_headless_options *options);

/*
 * Returns the created objects. NULL with GR_ERR_INVALID_VALUE if `headless` is NULL.
 *
 * Valid    until gr_vk_headless_free()
 */
GR_API const gr_vk_headless_info *gr_vk_headless_get_info(const gr_vk_headless *headless);

/*
 * Wraps a headless device and its graphics queue: gr_vk_device_from_vk() with the fields of
 * gr_vk_headless_info and these `transports`.
 *
 * Owner    the caller frees it with gr_vk_device_free(). It keeps the headless device alive
 *
 * Errors: as for gr_vk_device_from_vk()
 */
GR_API gr_vk_device *gr_vk_device_from_headless(const gr_vk_headless *headless,
                                                unsigned transports);

/*
 * Releases the caller's reference. Objects of gr_vk_device_from_vk() keep device and instance
 * alive; the last such object may be a tensor that another framework frees.
 */
GR_API void gr_vk_headless_free(gr_vk_headless *headless);

GR_SCOPE_END(gr_vk_device, gr_vk_device_free)
GR_SCOPE_END(gr_vk_headless, gr_vk_headless_free)

#ifdef __cplusplus
}
#endif
#endif
