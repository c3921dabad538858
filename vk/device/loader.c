/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Opens the Vulkan loader; see vk/device/loader.h. */
#include "vk/device/loader.h"

#include <pthread.h>
#include <string.h>

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/loader.h"

#if defined(_WIN32)
#define LOADER  "vulkan-1.dll"
#define INSTALL "It comes with the graphics driver."
#else
#define LOADER  "libvulkan.so.1"
#define INSTALL "Install it (on Debian libvulkan1)."
#endif

/*
 * Opens the loader once and never closes it, because drivers leave threads and exit handlers of
 * threads behind.
 */
static void *open_once(char *why, size_t size)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static void *file;
    pthread_mutex_lock(&lock);
    if (!file)
        file = gr_loader_open(LOADER, why, size);
    void *opened = file;
    pthread_mutex_unlock(&lock);
    return opened;
}

gr_status vk_loader_open(PFN_vkGetInstanceProcAddr *get, const char *call)
{
    char why[256] = "it is not a Vulkan loader";
    void *file = open_once(why, sizeof(why));
    void *symbol = file ? gr_loader_symbol(file, "vkGetInstanceProcAddr") : NULL;
    memcpy(get, &symbol, sizeof(symbol));
    if (symbol)
        return GR_OK;
    return gr_fail(GR_ERR_UNSUPPORTED, call,
                   "The Vulkan loader " LOADER " could not be loaded: %s. " INSTALL, why);
}

const char *vk_driver_hint(void)
{
    return gr_driver_traits()->mesa_draws
               ? "Install Mesa's lavapipe (on Debian mesa-vulkan-drivers); VK_DRIVER_FILES, or "
                 "VK_ICD_FILENAMES, may hide it."
               : "Is the NVIDIA Vulkan driver installed (nvidia_icd.json and its "
                 "libGLX_nvidia.so.0; in a container NVIDIA_DRIVER_CAPABILITIES must contain "
                 "graphics)? VK_DRIVER_FILES, or VK_ICD_FILENAMES, may hide it.";
}
