/* SPDX-License-Identifier: Apache-2.0 */
/* OpenGL's internal formats as Vulkan calls them, for images that both share with CUDA. */
#ifndef GR_GL_SHARED_VULKAN_FORMAT_H
#define GR_GL_SHARED_VULKAN_FORMAT_H

#include <grinterop/vk.h>

struct gl_vulkan_format {
    unsigned int internal; /* as glTexStorage takes it */
    const char *name;      /* "GL_RGBA8" */
    VkFormat vulkan;
};

/* NULL, with the error that says what to use, for a format that cannot be shared. */
const struct gl_vulkan_format *gl_vulkan_format_of(unsigned int internal, const char *call);

#endif
