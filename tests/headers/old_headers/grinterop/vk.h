/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vulkan: buffers and images that Vulkan and CUDA share, without a copy, and whose turn it is.
 *
 *     gr_vk_device *device = gr_vk_device_wrap(                               (once)
 *         &GR_INIT(gr_vk_device_desc, .get_instance_proc_addr = vkGetInstanceProcAddr,
 *                  .instance = instance, .physical_device = physical_device,
 *                  .device = vulkan_device, .queue = queue, .queue_family = family));
 *     const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
 *                                      .size = bytes,
 *                                      .usage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT};
 *     gr_resource *vertices = gr_vk_buffer_create(device, &info, GR_WRITE_DISCARD);
 *     if (!vertices)
 *         gr_error_print(stderr, "sharing the vertices");
 *
 *     gr_buffer *buffer = gr_map(vertices, stream);                           (each frame)
 *     ... launch kernels on `stream` that write to gr_buffer_ptr(buffer) ...
 *     gr_buffer_release(buffer);
 *
 *     const gr_vk_use use = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT,
 *                                   .access = VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT);
 *     gr_submit *submit = gr_submit_begin(&vertices, 1);
 *     gr_vk_submit(submit, &GR_INIT(gr_vk_submit_desc, .info = &your_submit_info,
 *                                   .first = &use, .last = &use));
 *     gr_submit_free(submit);
 *
 *     vkQueueWaitIdle(queue);                                                 (at the end)
 *     gr_resource_free(vertices);
 *     gr_vk_device_free(device);
 *
 * No call above waits: CUDA's stream waits for Vulkan's submit, and the submit for the release.
 *
 * Order    resources of one wrapped device begin with one pair of timeline semaphores, the device's
 *          own. Resources that are used on several queues, by several threads or by streams that
 *          shall not wait for each other get pairs of their own: gr_vk_semaphore_create() and
 *          gr_resource_set_sync(). A resource that is sent to another process (share.h) has no pair
 *          there, unless it had one of its own
 * Layout   while CUDA has an image it is in VK_IMAGE_LAYOUT_GENERAL
 * Family   what CUDA has belongs to VK_QUEUE_FAMILY_EXTERNAL. Both barriers of gr_vk_submit() see
 *          to it, as gr_vk_cmd_to_cuda() and gr_vk_cmd_from_cuda() do in your own commands
 * Needs    the extensions that gr_vk_device_extensions() lists, and the feature timelineSemaphore.
 *          Vulkan's headers of version 1.3
 *
 * Vulkan is called through your vkGetInstanceProcAddr: grinterop does not link it. The only calls
 * that use a queue are gr_vk_submit()'s.
 */
#ifndef GR_VK_H
#define GR_VK_H

#include <vulkan/vulkan_core.h>

#include <grinterop/gr.h>
#include <grinterop/submit.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The device ------------------------------------------------------------------------------ */

/* Your Vulkan device, with the CUDA device that it is. */
typedef struct gr_vk_device gr_vk_device;

/* Your Vulkan device: what gr_vk_device_wrap() has to know of it. */
typedef struct gr_vk_device_desc {
    size_t struct_size;

    /* How Vulkan's functions are found. Required. */
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;

    /* Required, all three. */
    VkInstance instance;
    VkPhysicalDevice physical_device;
    VkDevice device;

    /* The queue that uses the resources. VK_NULL_HANDLE: each gr_vk_submit() names one. */
    VkQueue queue;

    /* That queue's family. 0 is a family like others. */
    uint32_t queue_family;

    /*
     * The device was made with the feature synchronization2. False: stages and accesses over 32
     * bits are refused, and gr_vk_submit() goes through vkQueueSubmit. Whether it is true cannot be
     * found out; the validation layer tells.
     */
    bool synchronization2;
} gr_vk_device_desc;

/*
 * Finds the VkPhysicalDevice that a CUDA device is, before you make your VkDevice.
 *
 *     VkPhysicalDevice physical_device;
 *     gr_vk_physical_device(vkGetInstanceProcAddr, instance, 0, &physical_device);
 *
 * They are matched by UUID: Vulkan and CUDA count devices in different orders. `cuda_device` is the
 * ordinal, as CUDA counts. The software CUDA driver's device is Mesa's lavapipe.
 *
 * Needs    an instance of Vulkan 1.1, or VK_KHR_get_physical_device_properties2. This cannot be
 *          asked: set VkApplicationInfo.apiVersion
 *
 * Errors, after which *physical_device is as it was:
 *     GR_ERR_INVALID_VALUE  a NULL, or CUDA has no such device
 *     GR_ERR_UNSUPPORTED    no Vulkan device is that one; the message lists those that were found
 *     GR_ERR_VULKAN         the devices could not be listed
 *     GR_ERR_NO_DRIVER      there is no CUDA driver
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
 * Of the device's only those are listed that it has, so that all of them can be enabled. What is
 * missing then, gr_vk_device_wrap() says. Of `desc` only get_instance_proc_addr, instance and
 * physical_device are read: the device need not exist yet. Beside the extensions enable the feature
 * timelineSemaphore.
 *
 * Valid    the names: for ever
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  a NULL, or there are more names than *count
 *     GR_ERR_VULKAN         the device did not list its extensions
 */
GR_API gr_status gr_vk_instance_extensions(const char *names[], uint32_t *count);
GR_API gr_status gr_vk_device_extensions(const gr_vk_device_desc *desc, const char *names[],
                                         uint32_t *count);

/*
 * Wraps your VkDevice, and finds the CUDA device that it is.
 *
 * If a CUDA context is current, it is used: it has to be of that device, or of one that has peer
 * access to it (cuDeviceCanAccessPeer). If none is, the device's primary context is retained for as
 * long as the wrap lives.
 *
 * With a context of another device only buffers are shared whose memory is dedicated to them, as
 * gr_vk_buffer_create() makes them, and semaphores. Vulkan has the memory, CUDA reaches it there.
 *
 * Owner    the caller frees it with gr_vk_device_free()
 * Valid    instance, device and queue have to outlive it, and all that is made of it
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  a NULL; a queue family that the device does not have; the current CUDA
 *                           context is of a device without peer access to it;
 *                           synchronization2 is set and not there
 *     GR_ERR_UNSUPPORTED    no CUDA device is that one; or extensions are missing, which the
 *                           message lists all at once
 *     GR_ERR_VULKAN         a function of Vulkan 1.0 was not found
 *     GR_ERR_CUDA           CUDA refused
 *     GR_ERR_NO_DRIVER      there is no CUDA driver
 */
GR_API gr_vk_device *gr_vk_device_wrap(const gr_vk_device_desc *desc);

/*
 * Drops the caller's hold of the device. What was made of it keeps it until that is freed too.
 *
 * At the end of a program: wait until your queues are idle, free resources and semaphores, then
 * this, then destroy the VkDevice. NULL is fine.
 *
 * Waits    the calling thread, for CUDA's work with what was freed before
 */
GR_API void gr_vk_device_free(gr_vk_device *device);

/*
 * The ordinal of the CUDA device that it is, as CUDA counts; -1 for NULL, which is
 * GR_ERR_INVALID_VALUE.
 */
GR_API int gr_vk_device_cuda(const gr_vk_device *device);

/*
 * Whether CUDA imports the device's semaphores. Where it does not (lavapipe), timelines work all
 * the same: the host waits and signals for the streams. False for NULL, which is
 * GR_ERR_INVALID_VALUE.
 */
GR_API bool gr_vk_device_has_semaphores(const gr_vk_device *device);

/*
 * Writes one line about the device: its names in both worlds, its UUID, what is shared how. At most
 * `size` bytes; returns the length of the whole line, like snprintf.
 */
GR_API int gr_vk_device_describe(const gr_vk_device *device, char *text, size_t size);

/* ---- Buffers and images that grinterop makes ------------------------------------------------- */

/*
 * Makes a buffer or an image, with memory that CUDA imports.
 *
 *     const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO, ...};
 *     gr_resource *picture = gr_vk_image_create(device, &info, GR_SURFACE_LOAD_STORE);
 *     vkCreateImageView(... gr_vk_image(picture) ...);
 *
 * `info` is what you would give to vkCreateBuffer and vkCreateImage, with its pNext and its sharing
 * mode. What makes the memory exportable is added, unless it is in the chain already. An image has
 * the layout info->initialLayout until a submit hands it to CUDA; see gr_vk_submit_desc.first.
 *
 * `flags` say what CUDA does with it: for buffers GR_READ_WRITE, GR_READ_ONLY or GR_WRITE_DISCARD,
 * for images all of gr.h's. Kernels may write to an image by GR_SURFACE_LOAD_STORE, or if its usage
 * has VK_IMAGE_USAGE_STORAGE_BIT.
 *
 * Owner    the caller frees the resource; VkBuffer, VkImage and memory are destroyed with it, by
 *          when Vulkan's work with them has to be done
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  a NULL, a wrong sType, usage 0, a size or shape that Vulkan has not,
 *                           flags; or handle types in the chain that CUDA does not import
 *     GR_ERR_UNSUPPORTED    CUDA has no such format, and the message names one to use instead; the
 *                           image is multisampled, sparse or protected; the device cannot export
 *                           it with these usages; or CUDA computes on another device, which takes
 *                           no images, and no memory that is not dedicated to one buffer
 *     GR_ERR_NO_MEMORY      of the device, or of the process
 *     GR_ERR_VULKAN         Vulkan refused
 *     GR_ERR_CUDA           CUDA refused
 *
 * Wraps vkCreateBuffer, vkCreateImage, vkAllocateMemory, vkGetMemoryFdKHR and
 * gr_from_external_memory().
 */
GR_API gr_resource *gr_vk_buffer_create(gr_vk_device *device, const VkBufferCreateInfo *info,
                                        unsigned flags);
GR_API gr_resource *gr_vk_image_create(gr_vk_device *device, const VkImageCreateInfo *info,
                                       unsigned flags);

/*
 * The Vulkan object that a resource was made from or with, and its memory. A buffer has no image,
 * and an image no buffer: VK_NULL_HANDLE, without an error.
 *
 * Errors: VK_NULL_HANDLE after
 *     GR_ERR_INVALID_VALUE  `resource` is NULL
 *     GR_ERR_STATE          it was made from no Vulkan object
 */
GR_API VkBuffer gr_vk_buffer(const gr_resource *resource);
GR_API VkImage gr_vk_image(const gr_resource *resource);
GR_API VkDeviceMemory gr_vk_memory(const gr_resource *resource);

/* ---- Buffers and images that you have -------------------------------------------------------- */

/*
 * A buffer in memory that was allocated with VkExportMemoryAllocateInfo, whose handleTypes are
 * VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, on Windows OPAQUE_WIN32_BIT.
 */
typedef struct gr_vk_buffer_desc {
    size_t struct_size;

    /* Required, as are the memory and both sizes. */
    VkBuffer buffer;

    /* What the buffer is bound to. */
    VkDeviceMemory memory;

    /* The allocationSize of `memory`. */
    VkDeviceSize memory_size;

    /* Where in `memory` the buffer is bound. 0: at its start. */
    VkDeviceSize offset;

    /* The buffer's size, in bytes. */
    VkDeviceSize size;

    /* `memory` was allocated with VkMemoryDedicatedAllocateInfo. */
    bool dedicated;

    /* As in the buffer's VkBufferCreateInfo. 0: VK_SHARING_MODE_EXCLUSIVE. */
    VkSharingMode sharing_mode;
} gr_vk_buffer_desc;

/* An image in such memory. */
typedef struct gr_vk_image_desc {
    size_t struct_size;

    /* What the image was made by. Required; it is read during the call only. */
    const VkImageCreateInfo *create_info;

    /* Required, as are the memory and its size. */
    VkImage image;

    /* What the image is bound to. */
    VkDeviceMemory memory;

    /* The allocationSize of `memory`. */
    VkDeviceSize memory_size;

    /* Where in `memory` the image is bound. 0: at its start. */
    VkDeviceSize offset;

    /* `memory` was allocated with VkMemoryDedicatedAllocateInfo. */
    bool dedicated;
} gr_vk_image_desc;

/*
 * Shares a buffer or an image that exists with CUDA. Several in one memory are fine.
 *
 * `flags` as for gr_vk_buffer_create(). What CUDA sees of an image follows from its create_info:
 *
 *     VK_IMAGE_USAGE_STORAGE_BIT             kernels may write to it, as by GR_SURFACE_LOAD_STORE
 *     VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT    CUDA_ARRAY3D_COLOR_ATTACHMENT
 *     arrayLayers over 1                     CUDA_ARRAY3D_LAYERED
 *     VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT    CUDA_ARRAY3D_CUBEMAP
 *     VK_FORMAT_D32_SFLOAT                   one float a texel; NVIDIA's driver (580) refuses
 *                                            DEPTH_TEXTURE for imported memory
 *
 * Owner    the caller frees the resource; Vulkan's objects stay the caller's, and may be destroyed
 *          first: the memory then lives on in CUDA
 *
 * Errors: as for gr_vk_buffer_create(), and
 *     GR_ERR_INVALID_VALUE  it goes past the end of its memory, or the offset is not aligned
 *     GR_ERR_VULKAN         the memory cannot be exported; the message says how to allocate it
 *
 * Wraps vkGetMemoryFdKHR (vkGetMemoryWin32HandleKHR) and gr_from_external_memory().
 */
GR_API gr_resource *gr_from_vk_buffer(gr_vk_device *device, const gr_vk_buffer_desc *desc,
                                      unsigned flags);
GR_API gr_resource *gr_from_vk_image(gr_vk_device *device, const gr_vk_image_desc *desc,
                                     unsigned flags);

/* ---- Formats --------------------------------------------------------------------------------- */

/* A Vulkan format as CUDA sees it. The library's: read it only. */
typedef struct gr_vk_format_info {
    /* For example "VK_FORMAT_R8G8B8A8_UNORM". */
    const char *name;

    /* The format of one channel, and how many there are. */
    CUarray_format format;
    unsigned channels;

    /* Integers stand for numbers from 0 to 1, or -1 to 1. */
    bool normalized;

    /* The colours are stored by the sRGB curve. */
    bool srgb;

    /* It holds depth values. */
    bool depth;

    /* Blue comes first: CUDA sees it as channel x. */
    bool swapped;
} gr_vk_format_info;

/*
 * Says what CUDA sees of a format.
 *
 * Valid    for ever
 *
 * Errors, after which it is NULL:
 *     GR_ERR_UNSUPPORTED    CUDA has no such arrays; the message says why and what to use instead
 */
GR_API const gr_vk_format_info *gr_vk_format(VkFormat format);

/* ---- Submits --------------------------------------------------------------------------------- */

/* How Vulkan uses resources: before they go to CUDA, or after they have come from there. */
typedef struct gr_vk_use {
    size_t struct_size;

    /*
     * The stages that use them. Required; VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT is always right.
     * Those over 32 bits need gr_vk_device_desc.synchronization2.
     */
    VkPipelineStageFlags2 stages;

    /* How they use them. 0: there is nothing to make visible. */
    VkAccessFlags2 access;

    /*
     * The layout of the images among them. On the way to CUDA 0, VK_IMAGE_LAYOUT_UNDEFINED, gives
     * their contents up; on the way from CUDA it is refused.
     */
    VkImageLayout layout;

    /*
     * The family of the queue that the commands are submitted to. NULL: the wrapped device's. It
     * does not matter for what is VK_SHARING_MODE_CONCURRENT.
     */
    const uint32_t *queue_family;
} gr_vk_use;

/* A submit, and how its commands use what CUDA shares. */
typedef struct gr_vk_submit_desc {
    size_t struct_size;

    /* Where it goes. VK_NULL_HANDLE: the wrapped device's queue. */
    VkQueue queue;

    /*
     * Your commands, with semaphores of your own. There are no barriers for CUDA in them. NULL: no
     * commands, only what is added.
     */
    const VkSubmitInfo2 *info;

    /* Signalled when all is done. VK_NULL_HANDLE: none. */
    VkFence fence;

    /*
     * How the first of the commands uses the resources: a barrier before takes them back from
     * CUDA. NULL: no barrier, since CUDA has not had them, or your commands have it.
     */
    const gr_vk_use *first;

    /*
     * How the last of the commands uses them: a barrier after hands them to CUDA. NULL: no barrier;
     * then gr_vk_cmd_to_cuda() has to be in your commands before CUDA maps the resources.
     * A new image goes to CUDA by a submit without `info` and `first`, and its layout here.
     */
    const gr_vk_use *last;
} gr_vk_submit_desc;

/*
 * Submits your commands with all that CUDA's part needs around them.
 *
 *     gr_submit *submit = gr_submit_begin(resources, n);
 *     gr_status status = gr_vk_submit(submit, &GR_INIT(gr_vk_submit_desc, .info = &info,
 *                                                      .first = &use, .last = &use));
 *     gr_submit_free(submit);
 *
 * Added are the waits and signals that `submit` names, and both barriers, of all the resources of
 * Vulkan's in it. OpenGL's mean nothing. The submit is committed then: the next map of each
 * resource waits for it.
 *
 * With synchronization2 it is one vkQueueSubmit2. Without, it is translated for vkQueueSubmit; its
 * signals then come after all commands.
 *
 * Thread   access to the queue is yours to keep apart, as for vkQueueSubmit: no other thread may
 *          use it during the call
 * Memory   the barriers are in command buffers of grinterop's, which are used again as soon as
 *          their submits are done
 * Needs    timeline semaphores, if there is a barrier
 *
 * Errors, after which it was not made, and can be tried again or freed:
 *     GR_ERR_INVALID_VALUE  a NULL; no resource is Vulkan's, or they are of several VkDevices;
 *                           there is no queue; a wrong sType; a use that cannot be; a semaphore
 *                           that is not Vulkan's
 *     GR_ERR_STATE          it was made before
 *     GR_ERR_UNSUPPORTED    a part of it needs synchronization2; the message names it
 *     GR_ERR_NO_MEMORY      of the process or of the device
 *     GR_ERR_DEVICE_LOST    the VkDevice is lost
 *     GR_ERR_VULKAN         Vulkan refused
 *
 * Wraps vkQueueSubmit2, else vkQueueSubmit.
 */
GR_API gr_status gr_vk_submit(gr_submit *submit, const gr_vk_submit_desc *desc);

/*
 * Adds the waits and signals of `submit` to a VkSubmitInfo2, for those who submit by themselves.
 *
 *     VkSubmitInfo2 filled;
 *     gr_vk_submit_fill(submit, &yours, 0, &filled);
 *     if (vkQueueSubmit2(queue, 1, &filled, fence) == VK_SUCCESS)
 *         gr_submit_commit(submit);
 *
 * *out is `info` with longer lists. `info` may be NULL, for no commands. `stages` wait for CUDA;
 * 0: all. The barriers are for you to record, by gr_vk_cmd_from_cuda() and gr_vk_cmd_to_cuda().
 *
 * Owner    the lists are the library's
 * Valid    until gr_submit_free(), or another call of this or of gr_vk_submit() with `submit`
 *
 * Errors, after which *out is as it was:
 *     GR_ERR_INVALID_VALUE  a NULL, a wrong sType, or a semaphore that is not Vulkan's
 *     GR_ERR_STATE          it was committed before
 *     GR_ERR_NO_MEMORY
 */
GR_API gr_status gr_vk_submit_fill(gr_submit *submit, const VkSubmitInfo2 *info,
                                   VkPipelineStageFlags2 stages, VkSubmitInfo2 *out);

/*
 * Record the barriers of gr_vk_submit() in your own commands, for n resources of one VkDevice.
 *
 *     gr_vk_cmd_from_cuda(commands, resources, n, &first_use);
 *     ... commands that use them ...
 *     gr_vk_cmd_to_cuda(commands, resources, n, &last_use);
 *
 * They change owner and layout; the semaphores of the submit do the waiting. The submit's wait has
 * to be at the stages of `after` at least: the change of layout comes after them.
 *
 * Flags that fit into 32 bits are recorded by vkCmdPipelineBarrier, on every device.
 *
 * Errors, after which nothing was recorded:
 *     GR_ERR_INVALID_VALUE  a NULL, n or `stages` is 0, a resource that is not Vulkan's or of
 *                           another VkDevice, a family that the device does not have, a layout that
 *                           no image can be brought into
 *     GR_ERR_UNSUPPORTED    flags over 32 bits, without synchronization2
 *
 * Wraps vkCmdPipelineBarrier, vkCmdPipelineBarrier2.
 */
GR_API gr_status gr_vk_cmd_from_cuda(VkCommandBuffer commands, gr_resource *const resources[],
                                     size_t n, const gr_vk_use *after);
GR_API gr_status gr_vk_cmd_to_cuda(VkCommandBuffer commands, gr_resource *const resources[],
                                   size_t n, const gr_vk_use *before);

/* ---- Semaphores ------------------------------------------------------------------------------ */

/*
 * Makes a semaphore that Vulkan and CUDA share: a timeline that begins at 0, or a binary one.
 *
 *     gr_semaphore *drawn = gr_vk_semaphore_create(device, VK_SEMAPHORE_TYPE_TIMELINE);
 *     gr_semaphore *computed = gr_vk_semaphore_create(device, VK_SEMAPHORE_TYPE_TIMELINE);
 *     gr_resource_set_sync(resource, drawn, computed);
 *
 * Where the device exports none, a timeline works all the same: a host function in the stream waits
 * and signals, in stream order.
 *
 * Owner    the caller frees it with gr_semaphore_free(); the VkSemaphore is destroyed with it, by
 *          when Vulkan's work with it has to be done
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  a NULL, or a type that is none
 *     GR_ERR_UNSUPPORTED    the device has no timelines; or exports no binary semaphores
 *     GR_ERR_VULKAN         Vulkan refused
 *     GR_ERR_CUDA           CUDA refused
 */
GR_API gr_semaphore *gr_vk_semaphore_create(gr_vk_device *device, VkSemaphoreType type);

/* A semaphore of yours. */
typedef struct gr_vk_semaphore_desc {
    size_t struct_size;

    /* Required. Made with VkExportSemaphoreCreateInfo, or else `through_host`. */
    VkSemaphore semaphore;

    /* 0: VK_SEMAPHORE_TYPE_BINARY. */
    VkSemaphoreType type;

    /* The value that a timeline has now. 0 for a binary semaphore. */
    uint64_t value;

    /*
     * It is not exported: the host waits and signals in stream order. Timelines only. A GPU's
     * driver may run the host functions of all streams one after the other: then a wait holds up
     * the signal that it waits for. False: it is exported.
     */
    bool through_host;
} gr_vk_semaphore_desc;

/*
 * Shares a semaphore that exists with CUDA.
 *
 * Owner    the caller frees it with gr_semaphore_free(); the VkSemaphore stays the caller's
 *
 * Errors: as for gr_vk_semaphore_create(), and
 *     GR_ERR_INVALID_VALUE  the timeline has come further than `value`
 *     GR_ERR_VULKAN         it cannot be exported; the message says how to create it
 *
 * Wraps vkGetSemaphoreFdKHR (vkGetSemaphoreWin32HandleKHR) and gr_semaphore_import().
 */
GR_API gr_semaphore *gr_semaphore_from_vk(gr_vk_device *device, const gr_vk_semaphore_desc *desc);

/*
 * The VkSemaphore; VK_NULL_HANDLE for a semaphore that is not Vulkan's, and for NULL, which is
 * GR_ERR_INVALID_VALUE.
 */
GR_API VkSemaphore gr_vk_semaphore(const gr_semaphore *semaphore);

/* ---- Vulkan without a window ----------------------------------------------------------------- */

/* A Vulkan device for tests, tools and programs without a window. */
typedef struct gr_vk_headless gr_vk_headless;

/* What device gr_vk_headless_create() makes. */
typedef struct gr_vk_headless_options {
    size_t struct_size;

    /* The ordinal of the CUDA device that it shall be, as CUDA counts. */
    int cuda_device;

    /* With the Khronos validation layer. */
    bool validation;

    /*
     * Called with each of the layer's warnings and errors, on any thread that calls Vulkan, and
     * with `user`. NULL: they are logged as warnings.
     */
    void (*message)(void *user, const char *text);
    void *user;
} gr_vk_headless_options;

/* What was made. The library's: read it only. */
typedef struct gr_vk_headless_info {
    /* How Vulkan's functions are found, and what gr_vk_device_desc asks for. */
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    VkInstance instance;
    VkPhysicalDevice physical_device;
    VkDevice device;

    /*
     * Queues of a family for graphics, and of families for compute and for transfer without
     * graphics. VK_NULL_HANDLE, of the family VK_QUEUE_FAMILY_IGNORED: the device has none.
     */
    VkQueue graphics, compute, transfer;
    uint32_t graphics_family, compute_family, transfer_family;

    /* The feature is enabled: for gr_vk_device_desc.synchronization2. */
    bool synchronization2;
} gr_vk_headless_info;

/*
 * Makes a Vulkan device on the GPU that a CUDA device is, with all that grinterop uses.
 *
 *     gr_vk_headless *headless = gr_vk_headless_create(NULL);
 *     const gr_vk_headless_info *vulkan = gr_vk_headless_get(headless);
 *
 * It loads libvulkan.so.1 and makes a device of Vulkan 1.2, with timeline semaphores, and with
 * synchronization2 where the device has it. NULL options: CUDA device 0.
 *
 * Owner    the caller frees it with gr_vk_headless_free(), after what the caller made of it
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  there is no such CUDA device
 *     GR_ERR_UNSUPPORTED    there is no Vulkan, or not on that device: the message lists the
 *                           devices that were found, and what may hide others
 *     GR_ERR_VULKAN         Vulkan refused
 *     GR_ERR_NO_DRIVER      there is no CUDA driver
 */
GR_API gr_vk_headless *gr_vk_headless_create(const gr_vk_headless_options *options);

/*
 * What it made. NULL for NULL, which is GR_ERR_INVALID_VALUE.
 *
 * Valid    until gr_vk_headless_free()
 */
GR_API const gr_vk_headless_info *gr_vk_headless_get(const gr_vk_headless *headless);

/*
 * Drops the caller's hold. What gr_vk_device_wrap() made of it keeps the device and the instance:
 * they end with the last of that, which may be a tensor that another framework frees. NULL is fine.
 */
GR_API void gr_vk_headless_free(gr_vk_headless *headless);

#if defined(__GNUC__)
/* For GR_AUTO(gr_vk_device) and GR_AUTO(gr_vk_headless). */
GR_API void gr_vk_device_at_scope_end(gr_vk_device **device);
GR_API void gr_vk_headless_at_scope_end(gr_vk_headless **headless);
#endif

#ifdef __cplusplus
}
#endif
#endif
