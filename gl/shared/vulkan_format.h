/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Maps OpenGL internal formats to Vulkan formats, for images that both APIs share with CUDA. */
#ifndef GR_GL_SHARED_VULKAN_FORMAT_H
#define GR_GL_SHARED_VULKAN_FORMAT_H

#include <grinterop/vk.h>

struct gl_vulkan_format {
    unsigned int internal; /* the format for glTexStorage */
    VkFormat vulkan;
};

/*
 * Returns the row of a format. NULL if the format cannot be shared; the error says what to use
 * instead.
 */
const struct gl_vulkan_format *gl_vulkan_format_of(unsigned int internal, const char *call);

#endif
