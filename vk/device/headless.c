/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Vulkan without a window: an instance, and a device on the GPU of a CUDA device. */
#include "vk/device/headless.h"

#include <pthread.h>
#include <stdlib.h>

#include "lib/cuda/context.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/live_objects.h"
#include "lib/base/log.h"
#include "lib/base/struct_size.h"
#include "vk/device/headless_device.h"
#include "vk/device/headless_instance.h"
#include "vk/device/loader.h"
#include "vk/device/physical_device.h"

struct gr_vk_headless {
    gr_vk_headless_options options;
    struct vk_headless_functions vk;
    VkDebugUtilsMessengerEXT messenger;
    uint32_t version; /* the Vulkan version of the instance */
    struct vk_identity identity;
    gr_vk_headless_info handles;
    unsigned holds; /* the number of references: one by the caller, and one per wrap */
    struct gr_vk_headless *next;
};

/*
 * All existing objects, so that a wrap can find the owner of its device. The lock also protects
 * their reference counts.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gr_vk_headless *all;

static gr_status open_instance(struct gr_vk_headless *h, const char *call)
{
    GR_TRY(vk_loader_open(&h->handles.get_instance_proc_addr, call));
    GR_TRY(vk_headless_create_instance(&h->options, &h->vk, &h->handles, &h->version, call));
    return vk_headless_create_messenger(&h->options, &h->vk, h->handles.instance, &h->messenger);
}

/* Frees the struct, which may be incomplete, and destroys its objects. */
static void free_all(struct gr_vk_headless *h)
{
    if (h->handles.device)
        h->vk.vkDestroyDevice(h->handles.device, NULL);
    if (h->messenger)
        h->vk.vkDestroyDebugUtilsMessengerEXT(h->handles.instance, h->messenger, NULL);
    if (h->handles.instance)
        h->vk.vkDestroyInstance(h->handles.instance, NULL);
    free(h);
}

static gr_status choose_device(struct gr_vk_headless *h, const char *call)
{
    const struct vk_device_list list = {
        .instance = h->handles.instance,
        .enumerate = h->vk.vkEnumeratePhysicalDevices,
        .get_properties = h->vk.vkGetPhysicalDeviceProperties2,
    };
    return vk_physical_device_find(&list, h->options.cuda_device, &h->handles.physical_device,
                                   &h->identity, call);
}

/* ---- Lifetime -------------------------------------------------------------------------------- */

static void list(struct gr_vk_headless *h)
{
    pthread_mutex_lock(&lock);
    h->holds = 1;
    h->next = all;
    all = h;
    pthread_mutex_unlock(&lock);
}

gr_vk_headless *vk_headless_hold(VkDevice device)
{
    pthread_mutex_lock(&lock);
    struct gr_vk_headless *h = all;
    while (h && h->handles.device != device)
        h = h->next;
    if (h)
        h->holds++;
    pthread_mutex_unlock(&lock);
    return h;
}

void vk_headless_drop(gr_vk_headless *headless)
{
    if (!headless)
        return;
    pthread_mutex_lock(&lock);
    bool last = --headless->holds == 0;
    for (struct gr_vk_headless **link = &all; last && *link; link = &(*link)->next)
        if (*link == headless) {
            *link = headless->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    if (last)
        free_all(headless);
}

/* ---- Creation -------------------------------------------------------------------------------- */

gr_vk_headless *gr_vk_headless_create(const gr_vk_headless_options *options)
{
    const char *call = __func__;
    if (!gr_driver_load())
        return NULL;
    gr_vk_headless *h = gr_check_memory(calloc(1, sizeof(*h)), call);
    if (!h)
        return NULL;
    CUdevice cuda;
    if (GR_TAKE(gr_vk_headless_options, &h->options, options, call) != GR_OK ||
        gr_device_get(h->options.cuda_device, &cuda, call) != GR_OK ||
        open_instance(h, call) != GR_OK || choose_device(h, call) != GR_OK ||
        vk_headless_create_device(&h->vk, &h->identity, h->version, &h->handles, call) != GR_OK) {
        free_all(h);
        return NULL;
    }
    list(h);
    gr_live_add(GR_LIVE_VK_HEADLESS, h);
    gr_log(GR_LOG_INFO, "Vulkan without a window on %s, for CUDA device %d%s", h->identity.name,
           h->options.cuda_device, h->options.validation ? ", validated" : "");
    return h;
}

const gr_vk_headless_info *gr_vk_headless_get(const gr_vk_headless *headless)
{
    if (!headless)
        gr_fail(GR_ERR_INVALID_VALUE, __func__,
                "The device is NULL: did gr_vk_headless_create() fail?");
    return headless ? &headless->handles : NULL;
}

void gr_vk_headless_free(gr_vk_headless *headless)
{
    if (headless && gr_live_end(GR_LIVE_VK_HEADLESS, headless, __func__))
        vk_headless_drop(headless);
}
