/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources made from Vulkan's buffers and images, without a copy, and semaphores between Vulkan and CUDA.
 * Vulkan is called through the application's own vkGetInstanceProcAddr: grinterop does not link it.
 *
 *     gr_vk_device *vk = gr_vk_device_wrap(&(gr_vk_device_desc){
 *         vkGetInstanceProcAddr, instance, physical_device, device, queue, queue_family});
 *     gr_resource *vertices = gr_vk_buffer_create(vk, bytes, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, GR_READ_WRITE);
 *     gr_semaphore *drawn = gr_vk_semaphore_create(vk, VK_SEMAPHORE_TYPE_TIMELINE);
 *     gr_semaphore *computed = gr_vk_semaphore_create(vk, VK_SEMAPHORE_TYPE_TIMELINE);
 *     gr_resource_set_sync(vertices, drawn, computed);
 *
 * Rules of Vulkan that hold here too: the instance, the device and the queue outlive the gr_vk_device, which
 * outlives nothing by itself: resources and semaphores keep it. External synchronisation of VkDevice's
 * objects is the application's; grinterop never submits to the queue and never waits for it.
 *
 * Layouts and ownership: CUDA reads and writes images in VK_IMAGE_LAYOUT_GENERAL, and memory that CUDA has
 * belongs to VK_QUEUE_FAMILY_EXTERNAL. gr_vk_cmd_to_cuda() and gr_vk_cmd_from_cuda() record both changes.
 */
#ifndef GR_VK_H
#define GR_VK_H

#include <vulkan/vulkan_core.h>

#include <grinterop/gr.h>
#include <grinterop/semaphore.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The device ------------------------------------------------------------------------------ */

/* The application's Vulkan device, with the CUDA device that it is. Counted. */
typedef struct gr_vk_device gr_vk_device;

typedef struct gr_vk_device_desc {
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    VkInstance instance;
    VkPhysicalDevice physical_device;
    VkDevice device;
    VkQueue queue;         /* the one that uses the resources; may be VK_NULL_HANDLE */
    uint32_t queue_family; /* its family */
} gr_vk_device_desc;

/*
 * The extensions that grinterop uses, to be passed to vkCreateInstance and vkCreateDevice: names in `names`,
 * which may be NULL to ask for the number, at most *count of them (GR_ERR_INVALID_VALUE if that is too few);
 * *count is their number afterwards. Those
 * of the device are the ones that it has, so that they can be enabled as they are; what is missing then,
 * gr_vk_device_wrap() says. Beside them the feature timelineSemaphore is to be enabled.
 * `physical_device` with its `get_instance_proc_addr` and `instance` as above; the rest is not looked at.
 */
GR_API gr_status gr_vk_instance_extensions(const char *names[], uint32_t *count);
GR_API gr_status gr_vk_device_extensions(const gr_vk_device_desc *info, const char *names[],
                                         uint32_t *count);

/*
 * Wraps a device, and finds the CUDA device of the same UUID; the software CUDA driver's is any of Mesa's on the CPU. If a CUDA context is current it has to be of
 * that device; if none is, the device's primary context is retained for as long as the wrap lives.
 * It is the caller's, freed with gr_vk_device_free().
 * Errors: GR_ERR_UNSUPPORTED (no CUDA device has that UUID: both sides are named; or a list of all the
 * extensions that are missing, each with whether the device has it), GR_ERR_INVALID_VALUE (a NULL; the
 * current CUDA context is of another device: both are named), GR_ERR_VULKAN, GR_ERR_NO_DRIVER.
 */
GR_API gr_vk_device *gr_vk_device_wrap(const gr_vk_device_desc *info);

/*
 * Drops the caller's hold. It waits for CUDA's work with what was closed and freed before, since that may still
 * use the device: free resources and semaphores first, then the wrap, then destroy the VkDevice. NULL is fine.
 */
GR_API void gr_vk_device_free(gr_vk_device *device);

/* The ordinal of the CUDA device that it is; -1 for NULL. */
GR_API int gr_vk_device_cuda(const gr_vk_device *device);

/* Whether semaphores can be exported to CUDA; where not (lavapipe), they work through waits of the host. */
GR_API bool gr_vk_device_has_semaphores(const gr_vk_device *device);

/* One line: both devices, UUID, what is shared how. Like snprintf. */
GR_API int gr_vk_device_describe(const gr_vk_device *device, char *text, size_t size);

/* ---- Buffers and images of the application ---------------------------------------------------- */

/* A buffer in memory that was allocated for export (VkExportMemoryAllocateInfo, OPAQUE_FD or OPAQUE_WIN32). */
typedef struct gr_vk_buffer_desc {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize memory_size; /* the allocationSize of `memory` */
    VkDeviceSize offset;      /* where the buffer is bound in `memory` */
    VkDeviceSize size;        /* of the buffer, in bytes */
    bool dedicated;           /* allocated with VkMemoryDedicatedAllocateInfo */
} gr_vk_buffer_desc;

typedef struct gr_vk_image_desc {
    VkImage image;
    VkDeviceMemory memory;
    VkDeviceSize memory_size;
    VkDeviceSize offset;
    bool dedicated;
    VkImageType type; /* this and the rest as in VkImageCreateInfo */
    VkFormat format;
    VkExtent3D extent;
    uint32_t mip_levels;      /* 0 is 1 */
    uint32_t array_layers;    /* 0 is 1 */
    VkImageCreateFlags flags; /* VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT: the layers are cube faces */
    VkImageUsageFlags usage;  /* COLOR_ATTACHMENT, DEPTH_STENCIL_ATTACHMENT and STORAGE matter */
    VkImageTiling tiling;     /* OPTIMAL; LINEAR only for one level, layer and slice */
    VkSampleCountFlagBits samples; /* 0 is 1; CUDA sees no multisampled images */
} gr_vk_image_desc;

/*
 * Registers a buffer or an image of the application with CUDA. The handle of the memory is exported and
 * imported once for each resource; several resources in one memory are fine. `flags` as for
 * gr_from_external_memory(). Vulkan's own objects stay the application's, and may be destroyed first: the
 * memory then lives on in CUDA.
 * What follows from the image: STORAGE usage or GR_SURFACE_LOAD_STORE: surfaces; COLOR_ATTACHMENT usage:
 * CUDA_ARRAY3D_COLOR_ATTACHMENT; layers: LAYERED; cube flag: CUBEMAP. VK_FORMAT_D32_SFLOAT is an array of one float
 * channel without DEPTH_TEXTURE, which NVIDIA's driver (580) refuses for imported memory in every combination.
 * Errors: GR_ERR_INVALID_VALUE (NULL, offset and size past the memory's end, an image that is not as CUDA
 * can see it), GR_ERR_UNSUPPORTED (format: the message names it and one to use instead; multisampled),
 * GR_ERR_VULKAN (the memory cannot be exported: how to allocate it), GR_ERR_CUDA.
 * Wraps vkGetMemoryFdKHR (vkGetMemoryWin32HandleKHR) and gr_from_external_memory().
 */
GR_API gr_resource *gr_from_vk_buffer(gr_vk_device *device, const gr_vk_buffer_desc *info,
                                      unsigned flags);
GR_API gr_resource *gr_from_vk_image(gr_vk_device *device, const gr_vk_image_desc *info,
                                     unsigned flags);

/* ---- Buffers and images that grinterop makes ------------------------------------------------------ */

/*
 * Makes a buffer of `size` bytes, with memory that is exported in the way that the driver wants, and registers
 * it. VkBuffer and memory belong to the resource: they are destroyed when it is freed (with its last buffer),
 * by when the application's own work with them has to be done. `usage` as for vkCreateBuffer.
 * Errors: as for gr_from_vk_buffer(); GR_ERR_VULKAN (out of memory, no memory type that can be exported).
 */
GR_API gr_resource *gr_vk_buffer_create(gr_vk_device *device, VkDeviceSize size,
                                        VkBufferUsageFlags usage, unsigned flags);

/*
 * Likewise an image, in VK_IMAGE_LAYOUT_UNDEFINED: `image`, `memory`, `memory_size`, `offset` and `dedicated` of
 * the description are not looked at.
 */
GR_API gr_resource *gr_vk_image_create(gr_vk_device *device, const gr_vk_image_desc *info,
                                       unsigned flags);

/* The Vulkan object that a resource was made from or with; VK_NULL_HANDLE for any other resource. */
GR_API VkBuffer gr_vk_buffer(const gr_resource *resource);
GR_API VkImage gr_vk_image(const gr_resource *resource);
GR_API VkDeviceMemory gr_vk_memory(const gr_resource *resource);

/* ---- Formats ---------------------------------------------------------------------------------- */

/* A Vulkan format as CUDA sees it. */
typedef struct gr_vk_format_info {
    const char *name;      /* "VK_FORMAT_R8G8B8A8_UNORM" */
    CUarray_format format; /* of one channel */
    unsigned channels;
    bool normalized, srgb, depth;
    bool swapped; /* blue comes first: CUDA sees it as channel x */
} gr_vk_format_info;

/* GR_ERR_UNSUPPORTED names a format that CUDA has no arrays of, and why. */
GR_API gr_status gr_vk_format(VkFormat format, gr_vk_format_info *info);

/* ---- Semaphores ------------------------------------------------------------------------------- */

/*
 * Makes a Vulkan semaphore that CUDA shares, timeline (VK_SEMAPHORE_TYPE_TIMELINE, starting at 0) or binary.
 * The VkSemaphore belongs to the gr_semaphore and is destroyed with it, by when Vulkan's work with it has to
 * be done.
 * Where the device cannot export semaphores, a timeline one works all the same: a stream waits and signals
 * through the host, in stream order (cuLaunchHostFunc, vkWaitSemaphores, vkSignalSemaphore); a binary one is
 * GR_ERR_UNSUPPORTED there.
 */
GR_API gr_semaphore *gr_vk_semaphore_create(gr_vk_device *device, VkSemaphoreType type);

/* A semaphore of the application's, which keeps it. */
typedef struct gr_vk_semaphore_desc {
    VkSemaphore semaphore; /* made with VkExportSemaphoreCreateInfo, or `through_host` */
    VkSemaphoreType type;
    uint64_t value; /* the value that a timeline has now */
    /*
     * Not exported: the host waits and signals in stream order; timelines only. A GPU's driver may run the host
     * functions of all streams one after the other: a wait then holds up the signal that it waits for.
     */
    bool through_host;
} gr_vk_semaphore_desc;

/* GR_ERR_VULKAN: it cannot be exported (how to create it). Wraps vkGetSemaphoreFdKHR and gr_semaphore_import(). */
GR_API gr_semaphore *gr_semaphore_from_vk(gr_vk_device *device, const gr_vk_semaphore_desc *info);

/* The VkSemaphore, for the application's submits; VK_NULL_HANDLE for any other semaphore. */
GR_API VkSemaphore gr_vk_semaphore(const gr_semaphore *semaphore);

/* ---- Barriers --------------------------------------------------------------------------------- */

/* How Vulkan uses a resource before it goes to CUDA, or after it has come from there. */
typedef struct gr_vk_use {
    VkPipelineStageFlags stages;
    VkAccessFlags access;
    VkImageLayout layout; /* images; UNDEFINED before CUDA: the contents are not kept */
    uint32_t queue_family;
} gr_vk_use;

/*
 * Records the barrier that hands resources to CUDA: after their use `before` they are visible outside, owned by
 * VK_QUEUE_FAMILY_EXTERNAL, images in VK_IMAGE_LAYOUT_GENERAL. The submit's signal of gr_submit does the rest.
 */
GR_API gr_status gr_vk_cmd_to_cuda(VkCommandBuffer commands, gr_resource *const resources[],
                                   size_t n, const gr_vk_use *before);

/*
 * Records the barrier that takes resources back from CUDA, for the use `after`. The submit's wait for
 * gr_submit.wait has to be at these stages at least (VK_PIPELINE_STAGE_ALL_COMMANDS_BIT is always right): the change
 * of layout happens after them. GR_ERR_INVALID_VALUE: NULL, n or `stages` 0, a resource that is not Vulkan's.
 */
GR_API gr_status gr_vk_cmd_from_cuda(VkCommandBuffer commands, gr_resource *const resources[],
                                     size_t n, const gr_vk_use *after);

/* ---- Vulkan without a window ------------------------------------------------------------------ */

/* An instance and a device on the GPU that a CUDA device is: for tests, tools and headless programs. */
typedef struct gr_vk_headless gr_vk_headless;

typedef struct gr_vk_headless_options {
    int cuda_device; /* ordinal of the CUDA device, as CUDA counts; default 0 */
    bool validation; /* the Khronos validation layer; its messages go to `message` */
    /* Called with each of the layer's warnings and errors; NULL: they are logged as warnings. */
    void (*message)(void *user, const char *text);
    void *user;
} gr_vk_headless_options;

/* What it made. A queue that the device has not is VK_NULL_HANDLE, and its family VK_QUEUE_FAMILY_IGNORED. */
typedef struct gr_vk_headless_info {
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    VkInstance instance;
    VkPhysicalDevice physical_device;
    VkDevice device;
    VkQueue graphics, compute, transfer; /* compute and transfer: of families without graphics */
    uint32_t graphics_family, compute_family, transfer_family;
} gr_vk_headless_info;

/*
 * Loads libvulkan.so.1 and makes a Vulkan 1.2 device (by UUID: whatever order Vulkan lists devices in), with
 * grinterop's extensions and timeline semaphores. `options` may be NULL. The handles are valid until
 * gr_vk_headless_free(), before which everything made of them is to be freed.
 * Errors: GR_ERR_NO_DRIVER, GR_ERR_VULKAN, GR_ERR_UNSUPPORTED (the message lists the devices that were found,
 * with their UUIDs, and what to look at: VK_DRIVER_FILES, NVIDIA_DRIVER_CAPABILITIES with `graphics`).
 */
GR_API gr_vk_headless *gr_vk_headless_create(const gr_vk_headless_options *options);
GR_API const gr_vk_headless_info *gr_vk_headless_get(const gr_vk_headless *headless);
GR_API void gr_vk_headless_free(gr_vk_headless *headless);

#if defined(__GNUC__)
GR_API void gr_vk_device_at_scope_end(gr_vk_device **device); /* for GR_AUTO(gr_vk_device) */
GR_API void gr_vk_headless_at_scope_end(
    gr_vk_headless **headless); /* for GR_AUTO(gr_vk_headless) */
#endif

#ifdef __cplusplus
}
#endif
#endif
