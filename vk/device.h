/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The application's Vulkan device inside vk/. */
#ifndef GR_VK_DEVICE_H
#define GR_VK_DEVICE_H

#include <cuda.h>
#include <pthread.h>

#include "lib/context.h"
#include "vk/device_match.h"
#include "vk/functions.h"

struct vk_recording;

/* The owner of a VkSemaphore: who destroys it, and what keeps the device alive for it. */
enum vk_semaphore_owner {
    VK_OF_APPLICATION, /* destroys it; the gr_semaphore holds the device */
    VK_OF_SEMAPHORE,   /* destroyed with its gr_semaphore, which holds the device */
    VK_OF_DEVICE /* the same, but the device holds the gr_semaphore, which only pins the struct */
};

/*
 * The device lives while the application, a resource or a semaphore holds it. Its own objects, such
 * as the semaphore pair of its resources, must not keep it alive. They end with the last hold, and
 * pin the struct until then.
 */
struct gr_vk_device {
    unsigned holds; /* external references; atomic */
    unsigned pins;  /* one for all holds, plus one per object of its own; atomic */
    struct vk_functions vk;
    gr_vk_headless *headless; /* retained owner of the VkDevice; NULL: the application */
    VkInstance instance;
    VkPhysicalDevice physical_device;
    VkDevice device;
    VkQueue queue; /* may be VK_NULL_HANDLE */
    uint32_t queue_family, family_count;
    bool synchronization2; /* the feature is enabled, and the functions for it were found */
    unsigned transports;   /* the allowed ones, as the application gave them */
    bool copies;           /* its resources are copied through host memory: vk/copy/ */
    char why[400];         /* the reason for that */
    bool stranger;         /* copies, and is another device than CUDA's */
    bool freed; /* by the application, which may destroy the VkDevice after its resources */
    VkDeviceSize host_alignment; /* of host memory that can be imported; 0: none can */
    VkPhysicalDeviceMemoryProperties memory;
    struct vk_identity identity;
    CUdevice cuda;
    int cuda_ordinal;
    struct gr_context context; /* the current one at the wrap, or the primary one */
    CUdevice computing; /* the context's device, which may be another that reaches the memory */
    bool has_timeline;  /* timeline semaphores exist; whether the feature is enabled cannot be
                           queried */
    bool exports_timeline, exports_binary; /* such semaphores can be exported to CUDA */
    bool without_pair; /* the code that wraps the device synchronises the resources itself */
    gr_vk_device_info info;
    char text[1100];                 /* its description */
    pthread_mutex_t lock;            /* protects the following members */
    gr_semaphore *acquire, *release; /* the pair, created for the first resource, or NULL */
    struct vk_recording *recordings; /* recording.h; the least recently used first */
    /*
     * Called after the last hold; NULL if the objects do not exist. With `wait`, the thread waits
     * until no stream uses the pair.
     */
    void (*end_pair)(gr_vk_device *device, bool wait);
    void (*end_recordings)(gr_vk_device *device);
};

/* Adds or drops a hold. */
void vk_device_hold(gr_vk_device *device);
void vk_device_drop(gr_vk_device *device);

/* The same for a semaphore with that owner. */
void vk_device_hold_by(gr_vk_device *device, enum vk_semaphore_owner owner);
void vk_device_drop_by(gr_vk_device *device, enum vk_semaphore_owner owner);

/*
 * Refuses `what` if the CUDA context is of another device, for objects that CUDA imports only on
 * their own device. `instead` is the advice.
 */
gr_status vk_check_one_device(const gr_vk_device *device, const char *what, const char *instead,
                              const char *call);

/* Argument checks of the calls: `device`, and for some also `info`, must not be NULL. */
gr_status vk_check_device(const gr_vk_device *device, const char *call);
gr_status vk_check_arguments(const gr_vk_device *device, const void *info, const char *call);

#endif
