/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Replaces the private Vulkan device, and the functions that depend on it, in builds without
 * Vulkan, and on Windows, where gl_memory_check() refuses shared storage first.
 */
#include "lib/base/error.h"
#include "gl/memory/memory.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static gr_status refuse(void)
{
    return gr_fail(
        GR_ERR_UNSUPPORTED,
        "This grinterop was built without Vulkan, which creates the images and semaphores that "
        "OpenGL and CUDA share. Build it with Vulkan, or use GR_TRANSPORT_INTEROP.");
}

gr_semaphore *gl_vulkan_semaphore(CUdevice device, bool timeline)
{
    refuse();
    return NULL;
}

gr_status gl_vulkan_semaphore_fd(CUdevice device, const gr_semaphore *semaphore, int *fd)
{
    *fd = -1;
    return refuse();
}

gr_status gl_vulkan_memory_fd(const gr_resource *image, int *fd)
{
    *fd = -1;
    return refuse();
}

gr_status gl_memory_check_format(const gr_gl_image_desc *image)
{
    return refuse();
}

gr_status gl_memory_make_image(struct gl_shared *r, const struct gr_context *cuda,
                               const struct gl_wish *wish)
{
    return refuse();
}
