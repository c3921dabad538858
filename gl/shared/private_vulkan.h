/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The private Vulkan device of grinterop on the GPU that OpenGL draws on. It is needed because only
 * Vulkan creates images and semaphores that both OpenGL and CUDA can import. There is one per
 * process and GPU. It is identified by its CUDA device, opened at the first use, and then kept.
 */
#ifndef GR_GL_SHARED_PRIVATE_VULKAN_H
#define GR_GL_SHARED_PRIVATE_VULKAN_H

#include <grinterop/cuda.h>
#include <grinterop/semaphore.h>

struct gr_vk_device;

/*
 * Wraps the private Vulkan device for the current CUDA context. The caller owns the wrapper;
 * resources made with it do not retain the CUDA context. If Vulkan is not available, records the
 * error and returns NULL.
 */
struct gr_vk_device *gl_vulkan_wrap(CUdevice device, const char *call);

/*
 * Creates a semaphore on the private Vulkan device, and imports it into the current CUDA context,
 * which the semaphore does not retain. If OpenGL could not import the semaphore, records an error
 * and returns NULL.
 */
gr_semaphore *gl_vulkan_semaphore(CUdevice device, bool timeline, const char *call);

/* Export such a semaphore, or the memory of an image, as a file descriptor that the caller owns. */
gr_status gl_vulkan_semaphore_fd(CUdevice device, const gr_semaphore *semaphore, int *fd);
gr_status gl_vulkan_memory_fd(const gr_resource *image, int *fd);

#endif
