/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Vulkan device of the program's own, which shows its pictures in a window of GLFW's, on the GPU
 * that CUDA computes on.
 */
#ifndef VIEWER_DEVICE_H
#define VIEWER_DEVICE_H

#include <grinterop/vk.h>

#include "viewer_window.h"

struct viewer_device {
    VkInstance instance;
    VkSurfaceKHR surface;
    gr_vk_device_desc desc; /* for gr_vk_device_wrap() */
};

/* False after an error, which has been printed. Either way viewer_device_close() cleans up. */
bool viewer_device_open(struct viewer_device *device, const struct viewer_window *window);
void viewer_device_close(struct viewer_device *device);

/* A function of the instance's, by its name. */
PFN_vkVoidFunction viewer_device_function(const struct viewer_device *device, const char *name);

#endif
