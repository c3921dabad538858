/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The application's Vulkan device, for files in vk/. */
#ifndef GR_VK_DEVICE_DEVICE_H
#define GR_VK_DEVICE_DEVICE_H

#include <cuda.h>
#include <pthread.h>

#include "lib/cuda/context.h"
#include "vk/device/device_match.h"
#include "vk/device/functions.h"

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
 */
struct gr_vk_device {
    /* the number of references by the application, resources and semaphores; atomic */
    unsigned holds;
    /* one pin for all holds together, and one per object that the device owns; atomic */
    unsigned pins;
    struct vk_functions vk;
    /* a reference to the owner of the VkDevice; NULL: the application owns it */
    gr_vk_headless *headless;
    VkPhysicalDevice physical_device;
    VkDevice device;
    VkQueue queue; /* the default queue; may be VK_NULL_HANDLE */
    uint32_t queue_family, family_count;
    bool synchronization2; /* the feature is enabled, and the functions for it were found */
    unsigned transports;   /* the transports that the application allows */
    bool copies;           /* all its resources are copied: vk/copy/ */
    char why[400];         /* the reason for `copies` */
    /* copies pass through memory of this device, which CUDA on another device can access */
    bool peer;
    bool stranger; /* `copies`, and the CUDA context has no access to the device */
    bool freed;    /* gr_vk_device_free() was called: the VkDevice may end with the last resource */
    VkDeviceSize host_alignment; /* the alignment of importable host memory; 0: no imports */
    VkPhysicalDeviceMemoryProperties memory;
    struct vk_identity identity;
    CUdevice cuda;
    int cuda_ordinal;
    /* the context that was current at the wrap, or the primary context */
    struct gr_context context;
    /* the device of the context, which may be another device with access to the memory */
    CUdevice computing;
    /* the device has timeline semaphores; whether the feature is enabled cannot be queried */
    bool has_timeline;
    /* whether timeline and binary semaphores can be exported to CUDA */
    bool exports_timeline, exports_binary;
    /* the device has no pair, because the code that wraps the device synchronises the resources */
    bool without_pair;
    gr_vk_device_info info;
    char text[1100];                /* the description of the device */
    pthread_mutex_t lock;           /* protects the following members */
    struct gr_semaphore_pair *pair; /* created for the first resource, or NULL */
    /* the recordings (vk/sync/sync.h), the least recently used first */
    struct vk_recording *recordings;
    /*
     * After the last hold, these functions end the pair and the recordings. NULL if there are none.
     * If `wait` is set, the thread waits until no stream uses the pair.
     */
    void (*end_pair)(gr_vk_device *device, bool wait);
    void (*end_recordings)(gr_vk_device *device);
};

/* Add and drop a hold. */
static inline void vk_device_hold(gr_vk_device *device)
{
    __atomic_fetch_add(&device->holds, 1, __ATOMIC_RELAXED);
}
void vk_device_drop(gr_vk_device *device);

/* Add and drop the reference of a semaphore with that owner: a pin or a hold. */
void vk_device_hold_by(gr_vk_device *device, enum vk_semaphore_owner owner);
void vk_device_drop_by(gr_vk_device *device, enum vk_semaphore_owner owner);

/*
 * Whether an object is copied. `crosses`: CUDA can also import the object on a device other than
 * its own.
 */
bool vk_device_copies(const gr_vk_device *device, bool crosses);

/* Why objects of the device are copied: the end of a sentence. */
static inline const char *vk_device_copies_since(const gr_vk_device *device)
{
    return device->copies ? device->why
                          : "CUDA computes on another device, which can import only dedicated "
                            "memory of buffers";
}

/*
 * Refuses `what`, which CUDA can import only on its own device, if the CUDA context belongs to
 * another device and the object is not copied. `instead` is the advice in the message.
 */
gr_status vk_check_crosses(const gr_vk_device *device, const char *what, const char *instead,
                           const char *call);

/*
 * Check arguments of public functions: `device`, and for some functions also `info`, must not be
 * NULL.
 */
gr_status vk_check_device(const gr_vk_device *device, const char *call);
gr_status vk_check_arguments(const gr_vk_device *device, const void *info, const char *call);

#endif
