/* SPDX-License-Identifier: Apache-2.0 */
/* The application's Vulkan device as the rest of vk/ sees it. */
#ifndef GR_VK_DEVICE_H
#define GR_VK_DEVICE_H

#include <pthread.h>

#include "lib/context.h"
#include "vk/device_match.h"
#include "vk/functions.h"

struct vk_recording;

/* Whose a VkSemaphore is: who ends it, and what keeps the device for it. */
enum vk_semaphore_owner {
    VK_OF_APPLICATION, /* who ends it; the gr_semaphore holds the device */
    VK_OF_SEMAPHORE,   /* it ends with its gr_semaphore, which holds the device */
    VK_OF_DEVICE       /* likewise, but the device holds it: it pins the device's memory only */
};

/*
 * The device lives as long as somebody outside holds it: the application, resources, semaphores.
 * What is its own, such as the pair that resources get, must not keep it alive. That ends with the
 * last hold, and pins the struct until it has ended.
 */
struct gr_vk_device {
    unsigned holds; /* of what is outside; changed atomically */
    unsigned pins;  /* one for all holds, and those of its own objects; changed atomically */
    struct vk_functions vk;
    gr_vk_headless *headless; /* whose device it is, which is held; NULL: the application's */
    VkInstance instance;
    VkPhysicalDevice physical_device;
    VkDevice device;
    VkQueue queue; /* may be VK_NULL_HANDLE */
    uint32_t queue_family, family_count;
    bool synchronization2; /* the feature is enabled: what functions.h has for it is there */
    VkPhysicalDeviceMemoryProperties memory;
    struct vk_identity identity;
    CUdevice cuda;
    int cuda_ordinal;
    struct gr_context context; /* the one that was current, or the primary one */
    CUdevice computing;        /* the context's, which may be another that reaches the memory */
    bool has_timeline; /* timeline semaphores at all; that the feature is enabled cannot be asked */
    bool exports_timeline, exports_binary; /* such semaphores can be handed to CUDA */
    bool without_pair;                     /* who wraps it gives resources their order himself */
    pthread_mutex_t lock;                  /* for what follows */
    gr_semaphore *acquire, *release;       /* the pair, made for the first resource, or NULL */
    struct vk_recording *recordings; /* see recording.h; the one that was used longest ago first */
    /*
     * End these, once nobody holds the device; NULL where there are none. With `wait` the thread
     * waits for what streams still have of the pair.
     */
    void (*end_pair)(gr_vk_device *device, bool wait);
    void (*end_recordings)(gr_vk_device *device);
};

/* One hold more, and less. */
void vk_device_hold(gr_vk_device *device);
void vk_device_drop(gr_vk_device *device);

/* The same for a semaphore of that owner. */
void vk_device_hold_by(gr_vk_device *device, enum vk_semaphore_owner owner);
void vk_device_drop_by(gr_vk_device *device, enum vk_semaphore_owner owner);

/*
 * Refuses `what` that CUDA takes from its own device only, if the context is of another one:
 * `instead` is the way out.
 */
gr_status vk_check_one_device(const gr_vk_device *device, const char *what, const char *instead,
                              const char *call);

/* What calls check first: that the device is not NULL, and for some that `info` is not. */
gr_status vk_check_device(const gr_vk_device *device, const char *call);
gr_status vk_check_arguments(const gr_vk_device *device, const void *info, const char *call);

#endif
