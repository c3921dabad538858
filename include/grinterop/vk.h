/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Vulkan buffers and images shared with CUDA, and the order between Vulkan and CUDA. The memory is
 * shared zero-copy, unless the application allows copies (`transports` of gr_vk_device_desc).
 *
 *     gr_vk_device *device = gr_vk_device_from_vk(                            (once)
 *         &GR_INIT(gr_vk_device_desc, .get_instance_proc_addr = vkGetInstanceProcAddr,
 *                  .instance = instance, .physical_device = physical_device,
 *                  .device = vulkan_device, .queue = queue, .queue_family = family));
 *     const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
 *                                      .size = bytes,
 *                                      .usage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT};
 *     gr_resource *vertices = gr_create_vk_buffer(device, &info, GR_WRITE_DISCARD);
 *
 *     gr_buffer *buffer = gr_map(vertices, stream);                           (each frame)
 *     ... launch kernels on `stream` that write to gr_buffer_ptr(buffer) ...
 *     gr_buffer_release(buffer);
 *
 *     gr_vk_submit_commands(&vertices, 1, commands, VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT,
 *                           VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT, VK_IMAGE_LAYOUT_GENERAL);
 *
 *     vkQueueWaitIdle(queue);                                                 (at the end)
 *     gr_resource_free(vertices);
 *     gr_vk_device_free(device);
 *
 * None of the calls in a frame blocks: the CUDA stream waits for the submit, and the submit waits
 * for the release.
 *
 * Order    the resources of a wrapped device share one pair of timeline semaphores, which the first
 *          map, submit or ring of one of them creates. Give resources their own pair, by
 *          gr_semaphore_create_vk() and gr_resource_set_sync(), if several queues or threads use
 *          them, or if their streams should not wait for each other. A resource sent to another
 *          process (share.h) has a pair there only if it had its own here
 * Layout   images are in VK_IMAGE_LAYOUT_GENERAL while CUDA has them
 * Family   while CUDA has a resource, the resource belongs to VK_QUEUE_FAMILY_EXTERNAL. The
 *          barriers of gr_vk_submit(), or of gr_vk_cmd_to_cuda() and gr_vk_cmd_from_cuda(),
 *          transfer the ownership
 * Needs    the extensions of gr_vk_device_extensions(), unless copies are allowed; the feature
 *          timelineSemaphore, except as described below; and Vulkan headers of version 1.3
 *
 * Without the feature timelineSemaphore, as on the devices of some engines: call
 * gr_resource_set_sync() with GR_SEMAPHORE_NONE or binary semaphores for each resource before its
 * first use, and record the barriers by gr_vk_cmd_to_cuda() and gr_vk_cmd_from_cuda(). grinterop
 * then creates no timeline. It cannot query whether the feature is enabled.
 */
#ifndef GR_VK_H
#define GR_VK_H

#include <grinterop/gr.h>
#include <grinterop/submit.h>
#include <grinterop/tensor.h>
#include <grinterop/vk_device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Buffers and images that grinterop creates ----------------------------------------------- */

/*
 * Creates a buffer or an image whose memory CUDA imports, or whose contents are copied.
 *
 *     const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO, ...};
 *     gr_resource *picture = gr_create_vk_image(device, &info, GR_SURFACE_LOAD_STORE);
 *     vkCreateImageView(... gr_vk_image(picture) ...);
 *
 * `info` is the argument of vkCreateBuffer or vkCreateImage, including its pNext chain and sharing
 * mode. grinterop adds the structs for export if the chain lacks them.
 *
 * An image has the layout info->initialLayout until it is handed to CUDA: by gr_vk_hand_over(), by
 * a submit with `last`, or by gr_vk_cmd_to_cuda(). Before, gr_map() returns GR_ERR_STATE, unless
 * gr_resource_set_sync() set `acquire` to GR_SEMAPHORE_NONE. The same holds for images of
 * gr_from_vk_image(), and for a buffer of gr_from_vk_buffer() that is copied, unless it is
 * GR_WRITE_DISCARD. Other buffers need no submit before their first map.
 *
 * `flags` for buffers are GR_READ_WRITE, GR_READ_ONLY or GR_WRITE_DISCARD; images accept all flags
 * of gr.h. Kernels may write to an image with GR_SURFACE_LOAD_STORE or VK_IMAGE_USAGE_STORAGE_BIT.
 *
 * Owner    the caller frees the resource, which destroys the VkBuffer or VkImage and its memory:
 *          the Vulkan work with it must be done, also the submits of gr_vk_hand_over() and
 *          gr_vk_submit(). vkQueueWaitIdle() waits for them
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  an argument is NULL; a wrong sType, a usage of 0, an invalid size,
 *                           shape or flag; or the chain contains handle types that CUDA does not
 *                           import
 *     GR_ERR_UNSUPPORTED    CUDA lacks the format, and the message names an alternative; the image
 *                           is multisampled, sparse, protected or, unless it is copied, of linear
 *                           tiling; the device cannot export it, or create it for a copy, with this
 *                           usage; or CUDA computes on another device, where only buffers with
 *                           dedicated memory can be shared, and `transports` allows no copy
 *     GR_ERR_NO_MEMORY      the device or the process is out of memory
 *
 * Wraps vkCreateBuffer, vkCreateImage, vkAllocateMemory, vkGetMemoryFdKHR and
 * gr_from_external_memory().
 */
GR_API gr_resource *gr_create_vk_buffer(gr_vk_device *device, const VkBufferCreateInfo *info,
                                        unsigned flags);
GR_API gr_resource *gr_create_vk_image(gr_vk_device *device, const VkImageCreateInfo *info,
                                       unsigned flags);

/*
 * Creates a buffer in the memory of a tensor: Vulkan uses what a framework computed, without a
 * copy. As gr_create_gl_buffer_of() in gl.h, which says what memory it must be.
 *
 * `info` is as for gr_create_vk_buffer(), with the size of the tensor's memory or 0. A map returns
 * the address of the tensor.
 *
 * Owner    the caller frees the resource, which destroys the VkBuffer: the Vulkan work with it must
 *          be done. The resource keeps the tensor
 * Context  that of the tensor, which must be that of the device
 *
 * Errors: as for gr_create_vk_buffer(), and
 *     GR_ERR_INVALID_VALUE  `tensor` as for gr_create_gl_buffer_of(), or the size is another one
 *     GR_ERR_UNSUPPORTED    the memory as for gr_create_gl_buffer_of(); the tensor begins where
 *                           Vulkan allows no buffer; the device copies; or on Windows
 *
 * Wraps cuMemExportToShareableHandle, vkCreateBuffer, vkAllocateMemory (VkImportMemoryFdInfoKHR).
 */
GR_API gr_resource *gr_create_vk_buffer_of(gr_vk_device *device, const VkBufferCreateInfo *info,
                                           gr_tensor *tensor, unsigned flags);

/*
 * Return the Vulkan buffer, image or memory of a resource. For the image of a buffer, and the
 * buffer of an image, they return VK_NULL_HANDLE without an error.
 *
 * Valid    until gr_resource_free() for objects that grinterop created, also after
 *          gr_resource_close()
 *
 * Errors: VK_NULL_HANDLE after
 *     GR_ERR_INVALID_VALUE  `resource` is NULL
 *     GR_ERR_STATE          the resource has no Vulkan object
 */
GR_API VkBuffer gr_vk_buffer(const gr_resource *resource);
GR_API VkImage gr_vk_image(const gr_resource *resource);
GR_API VkDeviceMemory gr_vk_memory(const gr_resource *resource);

/* ---- Existing buffers and images ------------------------------------------------------------- */

/*
 * A buffer created with VkExternalMemoryBufferCreateInfo, in memory allocated with
 * VkExportMemoryAllocateInfo. Both structs have the handle type
 * VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, on Windows OPAQUE_WIN32_BIT.
 *
 * If gr_vk_device_desc.transports allows copies, neither struct is needed. For an object made
 * without them `memory` must be VK_NULL_HANDLE, because the NVIDIA driver exports such memory, too,
 * and CUDA then sees other bytes. With VK_NULL_HANDLE the object is copied, even if its memory was
 * made for export, and `memory_size`, `offset` and `dedicated` are ignored.
 */
typedef struct gr_vk_buffer_desc {
    size_t struct_size;
    VkBuffer buffer;            /* required */
    VkDeviceMemory memory;      /* the memory that it is bound to */
    VkDeviceSize memory_size;   /* allocationSize of `memory`; VMA: blockSize */
    VkDeviceSize offset;        /* the offset of the buffer in `memory` */
    VkDeviceSize size;          /* the size of the buffer in bytes; required */
    bool dedicated;             /* `memory` was allocated with VkMemoryDedicatedAllocateInfo */
    VkSharingMode sharing_mode; /* as in its VkBufferCreateInfo; 0: VK_SHARING_MODE_EXCLUSIVE */

    /*
     * Frames in flight: 2 to 64 staging buffers that CUDA uses in turn, for write_discard and
     * read_only resources; 0: none. A map for writing waits only for the submit that used its
     * staging buffer `in_flight` frames ago, not for the last one; a submit waits likewise for CUDA
     * if CUDA only reads. `transports` of the device must allow GR_TRANSPORT_PEER or
     * GR_TRANSPORT_COPY: the object is copied as described above, even if CUDA could import it.
     *
     * The address of a mapping changes from map to map, if CUDA computes on the GPU that draws and
     * the transport is peer. Staging memory takes `in_flight` times the size of the object, of the
     * GPU that draws or of the host; gr_resource_describe() says so. Submit by gr_vk_submit():
     * gr_vk_submit_fill() and gr_submit_commit() return GR_ERR_UNSUPPORTED, because commands that
     * were recorded before name another staging buffer. Submits in several queues must be ordered
     * by the program. If `acquire` is a binary semaphore, a map waits for the last submit.
     */
    GR_NEW_FIELD(unsigned) in_flight;
} gr_vk_buffer_desc;

/*
 * An image that was created with VkExternalMemoryImageCreateInfo, in memory allocated as for
 * gr_vk_buffer_desc. The handle types and the exception for copies are the same, too: images of
 * swapchains, OpenXR and engines have an unknown memory.
 */
typedef struct gr_vk_image_desc {
    size_t struct_size;

    /*
     * The argument of vkCreateImage. Required; read during the call only. Without that struct, fill
     * one with these properties of the image: sType, imageType, format, extent, mipLevels,
     * arrayLayers, samples, tiling, usage, sharingMode and, for cube maps, flags. pNext is not
     * read.
     */
    const VkImageCreateInfo *create_info;

    VkImage image;            /* required */
    VkDeviceMemory memory;    /* the memory that it is bound to */
    VkDeviceSize memory_size; /* allocationSize of `memory`; VMA: blockSize */
    VkDeviceSize offset;      /* the offset of the image in `memory` */
    bool dedicated;           /* `memory` was allocated with VkMemoryDedicatedAllocateInfo */

    /* As in gr_vk_buffer_desc. CUDA's arrays do not change from map to map. */
    GR_NEW_FIELD(unsigned) in_flight;
} gr_vk_image_desc;

/*
 * Shares an existing buffer or image with CUDA. Several buffers and images may lie in one
 * VkDeviceMemory.
 *
 * `flags` are as for gr_create_vk_buffer(). The create_info of an image decides how CUDA sees it:
 *
 *     VK_IMAGE_USAGE_STORAGE_BIT             kernels may write to it, as by GR_SURFACE_LOAD_STORE
 *     VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT    CUDA_ARRAY3D_COLOR_ATTACHMENT
 *     arrayLayers over 1                     CUDA_ARRAY3D_LAYERED
 *     VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT    CUDA_ARRAY3D_CUBEMAP
 *     VK_FORMAT_D32_SFLOAT                   one float per texel; the NVIDIA driver (580) refuses
 *                                            DEPTH_TEXTURE for imported memory
 *
 * Owner    the caller frees the resource, and still owns the Vulkan objects. They may be destroyed
 *          first, because CUDA keeps the memory alive; but with copies they must exist at each
 *          submit of the resource
 * Host     the host may access memory mapped by vkMapMemory while the resource is not mapped. CUDA
 *          sees the host's writes only after a submit between the writes and the map, such as the
 *          submit that hands the resource over. Without a submit CUDA reads old bytes, even in
 *          HOST_COHERENT memory (seen on an H200). If CUDA computes on another GPU, it reads old
 *          bytes even after the submit (seen on two H100s): let Vulkan write them. Memory that is
 *          not HOST_COHERENT also needs vkFlushMappedMemoryRanges() before that submit. To read
 *          data that CUDA wrote, release the buffer and call gr_resource_wait(); memory that is not
 *          HOST_COHERENT then needs vkInvalidateMappedMemoryRanges(). grinterop neither flushes nor
 *          invalidates. With copies a submit must have taken the bytes back before the host reads
 *          them
 * Overlap  as for gr_from_same_memory() in external.h
 * Windows  Vulkan exports the handle of a VkDeviceMemory only once: do not export it yourself, and
 *          share further buffers and images in it by gr_from_same_memory()
 *
 * Errors: as for gr_create_vk_buffer(), and
 *     GR_ERR_INVALID_VALUE  the buffer or image exceeds its memory, or the offset is not aligned;
 *                           `memory` is VK_NULL_HANDLE, and `transports` allows no copy; or the
 *                           image is copied, and its usage lacks a transfer
 *     GR_ERR_VULKAN         the memory cannot be exported; the message says how to allocate it
 *
 * Wraps vkGetMemoryFdKHR (vkGetMemoryWin32HandleKHR) and gr_from_external_memory().
 */
GR_API gr_resource *gr_from_vk_buffer(gr_vk_device *device, const gr_vk_buffer_desc *desc,
                                      unsigned flags);
GR_API gr_resource *gr_from_vk_image(gr_vk_device *device, const gr_vk_image_desc *desc,
                                     unsigned flags);

/* ---- Formats --------------------------------------------------------------------------------- */

/* A Vulkan format as CUDA sees it. Owned by the library. */
typedef struct gr_vk_format_info {
    const char *name;  /* such as "VK_FORMAT_R8G8B8A8_UNORM" */
    unsigned format;   /* such as GR_FORMAT_FLOAT: of one channel, or packed */
    unsigned channels; /* the number of channels */
    bool normalized;   /* integers represent numbers from 0 to 1, or -1 to 1 */
    bool srgb;         /* colours are sRGB encoded */
    bool depth;        /* values are depths */
    bool swapped;      /* blue comes first, as channel x in CUDA */
} gr_vk_format_info;

/*
 * How CUDA sees a format.
 *
 * Valid    until the process ends
 *
 * Errors: NULL after
 *     GR_ERR_UNSUPPORTED    images of this format cannot be shared; the message gives the reason
 *                           and names an alternative
 */
GR_API const gr_vk_format_info *gr_vk_format_get_info(VkFormat format);

/* ---- Submits --------------------------------------------------------------------------------- */

/* How Vulkan uses resources before they are handed to CUDA, or after they are taken back. */
typedef struct gr_vk_use {
    size_t struct_size;

    /*
     * The stages that use the resources. Required; VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT always
     * works. Stages beyond 32 bits need gr_vk_device_desc.synchronization2.
     */
    VkPipelineStageFlags2 stages;
    VkAccessFlags2 access; /* 0: nothing to make visible */

    /*
     * The layout of the images. VK_IMAGE_LAYOUT_UNDEFINED (0) discards their contents on the way to
     * CUDA, and is refused on the way from CUDA.
     */
    VkImageLayout layout;

    /*
     * The queue family of the submit. NULL: the queue family of the wrapped device. Ignored for
     * VK_SHARING_MODE_CONCURRENT.
     */
    const uint32_t *queue_family;
} gr_vk_use;

/* How a submit uses one of its resources. */
typedef struct gr_vk_resource_use {
    size_t struct_size;
    gr_resource *resource; /* a Vulkan resource of the submit; required */
    /* NULL: `first` or `last` of gr_vk_submit_desc */
    const gr_vk_use *first, *last;
} gr_vk_resource_use;

/* A submit, and how its commands use the resources. */
typedef struct gr_vk_submit_desc {
    size_t struct_size;
    VkQueue queue;             /* VK_NULL_HANDLE: the queue of the wrapped device */
    const VkSubmitInfo2 *info; /* your commands and semaphores, without barriers for CUDA; NULL: no
                                * commands */
    VkFence fence;             /* signalled when everything is done; VK_NULL_HANDLE: none */

    /*
     * The first use by the commands: a barrier before this use takes those resources back that CUDA
     * has. NULL is refused while CUDA has a resource, unless `own_barriers` is set.
     */
    const gr_vk_use *first;

    /*
     * The last use by the commands: a barrier after this use hands the resources to CUDA. NULL:
     * Vulkan keeps them, and gr_map() returns GR_ERR_STATE until a submit hands them over. For the
     * slots of a ring NULL is refused, unless `own_barriers` is set.
     */
    const gr_vk_use *last;

    /* Your commands and semaphores for vkQueueSubmit, in place of `info`. */
    const VkSubmitInfo *info_v1;

    /* The uses of single resources, each listed once, in place of `first` and `last`. */
    const gr_vk_resource_use *uses;
    size_t use_count;

    /*
     * Your commands contain the barriers that `first` and `last` leave out: record them by
     * gr_vk_cmd_from_cuda() and gr_vk_cmd_to_cuda(). After the submit CUDA has all resources.
     */
    bool own_barriers;
} gr_vk_submit_desc;

/*
 * Submits your commands with the semaphores and barriers for CUDA. gr_vk_submit_commands() does the
 * usual case in one call.
 *
 *     gr_submit *submit = gr_submit_begin(resources, n);
 *     gr_status status = gr_vk_submit(submit, &GR_INIT(gr_vk_submit_desc, .info = &info,
 *                                                      .first = &use, .last = &use));
 *     gr_submit_free(submit);
 *
 * Adds the waits, signals and barriers of all Vulkan resources in `submit`, and ignores OpenGL
 * resources. The submit is then committed: the next map of each resource waits for it. With
 * synchronization2 this function makes one call of vkQueueSubmit2. Without it, the submit is
 * translated for vkQueueSubmit, with all signals after all commands. `info_v1` is submitted by
 * vkQueueSubmit. If copies come before your commands, your waits also stop the stage TRANSFER.
 *
 * Thread   no other thread may use the queue during the call, as for vkQueueSubmit
 * Memory   the barriers are in command buffers of grinterop, which are reused when their submits
 *          are done
 * Needs    timeline semaphores, if there is a barrier
 *
 * Errors, after which nothing was submitted; call it again or free the submit:
 *     GR_ERR_INVALID_VALUE  an argument is NULL; there is no Vulkan resource, or there are
 *                           resources of several VkDevices; there is no queue; a wrong sType; an
 *                           invalid use; a semaphore is not a Vulkan semaphore
 *     GR_ERR_STATE          the submit was committed before; CUDA has a resource without `first`;
 *                           or a slot of a ring has no `last`
 *     GR_ERR_CUDA           the CUDA context was destroyed
 *     GR_ERR_UNSUPPORTED    a part of the submit needs synchronization2, and the message names the
 *                           part; or the chain of `info_v1` (gr_vk_submit_fill_v1())
 *     GR_ERR_NO_MEMORY      the process or the device is out of memory
 *     GR_ERR_DEVICE_LOST    the VkDevice is lost
 *
 * Wraps vkQueueSubmit2, else vkQueueSubmit.
 */
GR_API gr_status gr_vk_submit(gr_submit *submit, const gr_vk_submit_desc *desc);

/*
 * The usual submit of n resources that are not slots of a ring: gr_submit_begin(), gr_vk_submit()
 * with these stages, access and layout as `first` and `last`, and gr_submit_free(). `commands` may
 * be VK_NULL_HANDLE, for no commands.
 *
 * Errors: as for gr_submit_begin() and gr_vk_submit()
 */
GR_API gr_status gr_vk_submit_commands(gr_resource *const resources[], size_t n,
                                       VkCommandBuffer commands, VkPipelineStageFlags2 stages,
                                       VkAccessFlags2 access, VkImageLayout layout);

/*
 * Hands n new resources to CUDA, by a submit without commands to the queue of their device. Until
 * then gr_map() refuses a new image. `layout` is the present layout of the images; with
 * VK_IMAGE_LAYOUT_UNDEFINED their contents are discarded.
 *
 * Errors: as for gr_submit_begin() and gr_vk_submit()
 */
GR_API gr_status gr_vk_hand_over(gr_resource *const resources[], size_t n, VkImageLayout layout);

/*
 * Adds the waits and signals of `submit` to a VkSubmitInfo2 for your own vkQueueSubmit2.
 *
 *     VkSubmitInfo2 filled;
 *     gr_vk_submit_fill(submit, &yours, 0, &filled);
 *     if (vkQueueSubmit2(queue, 1, &filled, fence) == VK_SUCCESS)
 *         gr_submit_commit(submit);
 *
 * vkQueueSubmit2 needs a Vulkan 1.3 device with synchronization2, such as that of
 * gr_vk_headless_create(); older devices have vkQueueSubmit2KHR. *out is `info` with the additional
 * waits and signals. `info` may be NULL, for no commands. `stages` are the stages that wait for
 * CUDA; 0 means all. Record the barriers by gr_vk_cmd_from_cuda() and gr_vk_cmd_to_cuda(). If
 * gr_submit_commit() is forgotten, the next map does not wait for the submit; gr_submit_free() logs
 * a warning.
 *
 * Owner    the library owns the lists
 * Valid    until gr_submit_free(), or until the next call of this function or of gr_vk_submit()
 *          with `submit`
 *
 * Errors, with *out unchanged:
 *     GR_ERR_INVALID_VALUE  an argument is NULL, a wrong sType, or a semaphore is not a Vulkan
 *                           semaphore
 *     GR_ERR_STATE          the submit was committed before
 *     GR_ERR_CUDA           the CUDA context was destroyed
 */
GR_API gr_status gr_vk_submit_fill(gr_submit *submit, const VkSubmitInfo2 *info,
                                   VkPipelineStageFlags2 stages, VkSubmitInfo2 *out);

/*
 * Like gr_vk_submit_fill(), for your own vkQueueSubmit. If the pNext chain of `info` contains a
 * VkTimelineSemaphoreSubmitInfo, that must be the first struct.
 *
 * Errors: as for gr_vk_submit_fill(), and
 *     GR_ERR_UNSUPPORTED  the VkTimelineSemaphoreSubmitInfo is not the first struct; or the chain
 *                         contains a VkDeviceGroupSubmitInfo or VkD3D12FenceSubmitInfoKHR, which
 *                         lists each semaphore
 */
GR_API gr_status gr_vk_submit_fill_v1(gr_submit *submit, const VkSubmitInfo *info,
                                      VkPipelineStageFlags stages, VkSubmitInfo *out);

/*
 * Record the barriers of gr_vk_submit() in your own commands, for n resources of one VkDevice.
 *
 *     gr_vk_cmd_from_cuda(commands, resources, n, &first_use);
 *     ... commands that use them ...
 *     gr_vk_cmd_to_cuda(commands, resources, n, &last_use);
 *
 * The barriers change owner and layout; the semaphores of the submit make Vulkan wait. The barriers
 * can be recorded before gr_submit_begin(). The submit must wait at least at the stages of `after`,
 * because the layout changes after the wait at these stages. Flags that fit into 32 bits are
 * recorded by vkCmdPipelineBarrier.
 *
 * Errors, after which nothing was recorded:
 *     GR_ERR_INVALID_VALUE  an argument is NULL; n or `stages` is 0; a resource is not a Vulkan
 *                           resource, or belongs to another VkDevice; an unknown family; an invalid
 *                           layout
 *     GR_ERR_UNSUPPORTED    flags beyond 32 bits, without synchronization2
 *
 * Wraps vkCmdPipelineBarrier, vkCmdPipelineBarrier2.
 */
GR_API gr_status gr_vk_cmd_from_cuda(VkCommandBuffer commands, gr_resource *const resources[],
                                     size_t n, const gr_vk_use *after);
GR_API gr_status gr_vk_cmd_to_cuda(VkCommandBuffer commands, gr_resource *const resources[],
                                   size_t n, const gr_vk_use *before);

/* ---- Semaphores ------------------------------------------------------------------------------ */

/*
 * Creates a semaphore for Vulkan and CUDA: a timeline that begins at 0, or a binary one.
 *
 *     gr_semaphore *drawn = gr_semaphore_create_vk(device, VK_SEMAPHORE_TYPE_TIMELINE);
 *     gr_semaphore *computed = gr_semaphore_create_vk(device, VK_SEMAPHORE_TYPE_TIMELINE);
 *     gr_resource_set_sync(resource, drawn, computed);
 *
 * If the device cannot export semaphores, a timeline still works: a host function waits and signals
 * in stream order.
 *
 * Owner    the caller frees it with gr_semaphore_free(), which destroys the VkSemaphore: the Vulkan
 *          work with it must be done
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  `device` is NULL, or the type is invalid
 *     GR_ERR_UNSUPPORTED    the device has no timelines, or cannot export binary semaphores
 */
GR_API gr_semaphore *gr_semaphore_create_vk(gr_vk_device *device, VkSemaphoreType type);

/* An existing semaphore. */
typedef struct gr_vk_semaphore_desc {
    size_t struct_size;
    VkSemaphore semaphore; /* required; created with VkExportSemaphoreCreateInfo, unless
                            * `through_host` is set */
    VkSemaphoreType type;  /* 0: VK_SEMAPHORE_TYPE_BINARY */
    uint64_t value;        /* the current value of a timeline; 0 for a binary semaphore */

    /*
     * Do not export the semaphore: the host waits and signals in stream order. For timelines only.
     * A GPU driver may run the host functions of all streams one after the other: a waiting host
     * function then blocks the host function that would signal.
     */
    bool through_host;
} gr_vk_semaphore_desc;

/*
 * Shares an existing semaphore with CUDA.
 *
 * Owner    the caller frees it with gr_semaphore_free(), and still owns the VkSemaphore
 * Windows  Vulkan exports the handle of a VkSemaphore only once
 *
 * Errors: as for gr_semaphore_create_vk(), and
 *     GR_ERR_INVALID_VALUE  the value of the timeline is greater than `value`
 *     GR_ERR_VULKAN         the semaphore cannot be exported; the message says how to create one
 *                           that can
 *
 * Wraps vkGetSemaphoreFdKHR (vkGetSemaphoreWin32HandleKHR) and gr_semaphore_from_handle().
 */
GR_API gr_semaphore *gr_semaphore_from_vk(gr_vk_device *device, const gr_vk_semaphore_desc *desc);

/*
 * Returns the VkSemaphore. Returns VK_NULL_HANDLE for a semaphore that is not a Vulkan semaphore,
 * without an error, and for NULL, with GR_ERR_INVALID_VALUE.
 */
GR_API VkSemaphore gr_vk_semaphore(const gr_semaphore *semaphore);

#ifdef __cplusplus
}
#endif
#endif
