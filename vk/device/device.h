/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The application's Vulkan device, headless devices, and what both need. */
#ifndef GR_VK_DEVICE_DEVICE_H
#define GR_VK_DEVICE_DEVICE_H

#include <stdatomic.h>

#include "lib/base/cuda_abi.h"
#include "lib/base/clock.h"
#include "lib/base/lock.h"
#include "lib/base/error.h"
#include "lib/cuda/context.h"
#include "vk/device/functions.h"
#include "vk/device/identity.h"

struct vk_recording;

/*
 * The owner of a VkSemaphore, which destroys it. The owner also determines which object keeps the
 * device alive for the semaphore.
 */
enum vk_semaphore_owner {
    /* the application destroys the VkSemaphore; the gr_semaphore holds the device */
    VK_OF_APPLICATION,
    /* the VkSemaphore is destroyed with its gr_semaphore, which holds the device */
    VK_OF_SEMAPHORE,
    /*
     * the VkSemaphore is destroyed with its gr_semaphore, which the device holds; the gr_semaphore
     * only pins the struct of the device
     */
    VK_OF_DEVICE
};

/*
 * A wrapped Vulkan device. It lives while the application, a resource or a semaphore holds it. The
 * objects that the device owns, such as the semaphore pair of its resources, do not hold the
 * device: they end after the last hold. They only pin this struct, which is freed with the last
 * pin.
 *
 * The application may destroy its VkDevice after the call that ends the last use. So this call
 * waits until no stream and no deferred object needs the VkDevice: vk_device_end_use().
 */
struct gr_vk_device {
    /* one use by the application, and one per resource and per semaphore of the application */
    atomic_uint uses;
    /* the number of references by the application, resources and semaphores */
    atomic_uint holds;
    /* one pin for all holds together, and one per object that the device owns */
    atomic_uint pins;
    struct vk_functions vk;
    /* a reference to the owner of the VkDevice; NULL: the application owns it */
    gr_vk_headless *headless;
    VkPhysicalDevice physical_device;
    VkDevice device;
    VkQueue queue; /* the default queue; may be VK_NULL_HANDLE */
    uint32_t queue_family, family_count;
    bool synchronization2; /* the feature is enabled, and the functions for it were found */
    /* the transports that the application allows, and that the device supports */
    unsigned transports;
    char why[560]; /* why GR_TRANSPORT_EXTERNAL is not among them: the end of a sentence */
    struct gr_deadline patience; /* for Vulkan work that the last use waits for */
    /*
     * For semaphores through the host: the number of waits and signals that are in streams, the
     * number of waits that block a stream, and whether these end without their signal.
     */
    atomic_uint points, waiting;
    atomic_bool gives_up;
    VkDeviceSize host_alignment; /* the alignment of importable host memory; 0: no imports */
    VkPhysicalDeviceMemoryProperties memory;
    struct vk_identity identity;
    CUdevice cuda; /* its ordinal is info.cuda_device */
    /* the context that was current at the wrap, or the primary context */
    struct gr_context context;
    /* the device of the context, which may be another device with access to the memory */
    CUdevice computing;
    /* the device has timeline semaphores; whether the feature is enabled cannot be queried */
    bool has_timeline;
    /* whether timeline and binary semaphores can be exported to CUDA */
    bool exports_timeline, exports_binary;
    gr_vk_device_info info;
    char text[1260];                /* the description of the device */
    struct gr_lock lock;            /* protects the following members */
    struct gr_semaphore_pair *pair; /* created for the first use of a resource, or NULL */
    /* the recordings (vk/sync/sync.h), the least recently used first */
    struct vk_recording *recordings;
    /* these functions, unless NULL, end the pair and the recordings after the last hold */
    void (*end_pair)(gr_vk_device *device);
    void (*end_recordings)(gr_vk_device *device);
};

/* Add and drop a hold. */
static inline void vk_device_hold(gr_vk_device *device)
{
    atomic_fetch_add_explicit(&device->holds, 1, memory_order_relaxed);
}
void vk_device_drop(gr_vk_device *device);

/* Add and drop a pin. Host functions in streams call vk_device_unpin(), which calls no CUDA. */
static inline void vk_device_pin(gr_vk_device *device)
{
    atomic_fetch_add_explicit(&device->pins, 1, memory_order_relaxed);
}
void vk_device_unpin(gr_vk_device *device);

/*
 * Add and end a use of a device that the caller holds. The end of the last use waits until the CUDA
 * work that needs the VkDevice is done, and at most GR_DRAWN_PATIENCE_MS for Vulkan work. grinterop
 * destroys the VkDevice of a headless device itself, after that work, so only gr_vk_device_free()
 * waits for it: `always`.
 */
void vk_device_begin_use(gr_vk_device *device);
void vk_device_end_use(gr_vk_device *device, bool always);

/* Add and drop the reference of a semaphore with that owner: a pin or a hold. */
void vk_device_hold_by(gr_vk_device *device, enum vk_semaphore_owner owner);
void vk_device_drop_by(gr_vk_device *device, enum vk_semaphore_owner owner);

/* Whether CUDA computes on another device than the Vulkan device, and can access its memory. */
static inline bool vk_device_crosses(const gr_vk_device *device)
{
    return device->computing != device->cuda;
}

/*
 * Refuses objects, which messages call `what`, because CUDA computes on another device. `instead`
 * is the advice in the message.
 */
gr_status vk_device_refuse_crossing(const gr_vk_device *device, const char *what,
                                    const char *instead);

/* Copies and checks the application's struct; `has_device`: the VkDevice must not be NULL. */
gr_status vk_take_desc(gr_vk_device_desc *info, const gr_vk_device_desc *given, bool has_device);

/* Check arguments of public functions: `device`, and in the second `info`, must not be NULL. */
gr_status vk_check_device(const gr_vk_device *device);
gr_status vk_check_arguments(const gr_vk_device *device, const void *info);

/* ---- Errors ---------------------------------------------------------------------------------- */

/* Like gr_fail(), for a Vulkan error: records GR_ERR_VULKAN. */
gr_status vk_fail(VkResult result, const char *call, const char *format, ...) GR_PRINTF(3, 4);

/* Returns the name of a result, such as "VK_ERROR_DEVICE_LOST". The string is static. */
const char *vk_result_name(VkResult result);

/* Converts a handle for "0x%llx". Handles are pointers or integers, depending on the platform. */
#define GR_VK_NUMBER(handle) ((unsigned long long)(uint64_t)(handle))

/* ---- The same device in Vulkan and in CUDA --------------------------------------------------- */

/*
 * Finds the CUDA device of the Vulkan device. If there is none, *ordinal is -1. With `required`,
 * the result is then GR_ERR_UNSUPPORTED, and the message lists the Vulkan device and the CUDA
 * devices. GR_ERR_CUDA if a CUDA call fails.
 */
gr_status vk_find_cuda_device(const struct vk_identity *identity, bool required, CUdevice *device,
                              int *ordinal);

/*
 * Finds the device and its identity. The CUDA driver must be loaded. GR_ERR_INVALID_VALUE: the CUDA
 * device does not exist. GR_ERR_UNSUPPORTED: no device matches, and the message lists the Vulkan
 * devices. GR_ERR_VULKAN: the devices could not be listed.
 */
gr_status vk_physical_device_find(const struct vk_functions *vk, VkInstance instance,
                                  int cuda_device, VkPhysicalDevice *device,
                                  struct vk_identity *identity);

/* Returns advice, a static sentence, if Vulkan has no driver for the CUDA device. */
const char *vk_driver_hint(void);

/* ---- The owner of a headless device ---------------------------------------------------------- */

/*
 * Returns a reference to the gr_vk_headless object that owns this device; NULL if the application
 * owns the device.
 */
gr_vk_headless *vk_headless_hold(VkDevice device);

/* Drops a reference. The last drop destroys the object. NULL is allowed. */
void vk_headless_drop(gr_vk_headless *headless);

/* ---- Extensions ------------------------------------------------------------------------------ */

/* The result of vkEnumerateDeviceExtensionProperties. */
struct vk_extensions {
    VkExtensionProperties *list;
    uint32_t count;
};

/*
 * Lists the extensions that the device supports. The list is freed by vk_extensions_end(). Error:
 * GR_ERR_VULKAN.
 */
gr_status vk_extensions_get(const struct vk_functions *vk, VkPhysicalDevice device,
                            struct vk_extensions *extensions);
bool vk_extensions_have(const struct vk_extensions *extensions, const char *name);
void vk_extensions_end(struct vk_extensions *extensions);

/* The most names that vk_extensions_used() returns. */
#define VK_EXTENSIONS_MOST 16

/*
 * Returns the number and the names of the device extensions that grinterop uses: those that are in
 * `extensions`, or all if it is NULL.
 */
uint32_t vk_extensions_used(const struct vk_extensions *extensions,
                            const char *names[VK_EXTENSIONS_MOST]);

/*
 * Checks that all functions were found that grinterop requires or that the device supports.
 * GR_ERR_UNSUPPORTED lists all missing extensions at once; GR_ERR_VULKAN names a missing function
 * of Vulkan 1.0. If `lacks` is not NULL, missing extensions are no error: `lacks` receives the
 * missing extensions that sharing memory requires.
 */
gr_status vk_extensions_check(const struct vk_functions *vk, VkPhysicalDevice device, char *lacks,
                              size_t size);

/* ---- Exported handles ------------------------------------------------------------------------ */

/* Export a handle, which the caller owns. GR_ERR_VULKAN after an error. */
gr_status vk_export_memory(const gr_vk_device *device, VkDeviceMemory memory, vk_handle *handle);
gr_status vk_export_semaphore(const gr_vk_device *device, VkSemaphore semaphore, vk_handle *handle);

#endif
