/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A Vulkan device owned by the program, which presents to a GLFW window, on the GPU that CUDA
 * computes on.
 */
#ifndef VIEWER_DEVICE_H
#define VIEWER_DEVICE_H

#include <grinterop/vk.h>

#include "viewer_window.h"

struct viewer_device {
    VkInstance instance;
    VkSurfaceKHR surface;
    gr_vk_device_desc desc; /* the device as gr_vk_device_wrap() needs it */
};

/* False after an error, which has been printed. viewer_device_close() cleans up in any case. */
bool viewer_device_open(struct viewer_device *device, const struct viewer_window *window);
void viewer_device_close(struct viewer_device *device);

/* False, with a message and the remedy, if the result is an error of presenting to the window. */
bool viewer_device_presents(VkResult result, const char *doing);

/* Looks up an instance function by name. */
PFN_vkVoidFunction viewer_device_function(const struct viewer_device *device, const char *name);

#endif
