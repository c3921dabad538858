/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * grinterop's own Vulkan device on the GPU that OpenGL draws on: only Vulkan creates images and
 * semaphores that both OpenGL and CUDA can import. One per process and GPU, identified by its CUDA
 * device, opened on first use and then kept.
 */
#ifndef GR_GL_SHARED_PRIVATE_VULKAN_H
#define GR_GL_SHARED_PRIVATE_VULKAN_H

#include <grinterop/cuda.h>
#include <grinterop/semaphore.h>

struct gr_vk_device;

/*
 * Wraps that Vulkan device for the current CUDA context. The caller owns the wrapper; resources
 * made with it do not retain the CUDA context. NULL, with the error, if Vulkan is not available.
 */
struct gr_vk_device *gl_vulkan_wrap(CUdevice device, const char *call);

/*
 * Creates a semaphore on that Vulkan device, imported into the current CUDA context, which it does
 * not retain. NULL, with the error, if OpenGL could not import it.
 */
gr_semaphore *gl_vulkan_semaphore(CUdevice device, bool timeline, const char *call);

/*
 * Exports such a semaphore, or the memory of an image, as a file descriptor that the caller owns.
 */
gr_status gl_vulkan_semaphore_fd(CUdevice device, const gr_semaphore *semaphore, int *fd);
gr_status gl_vulkan_memory_fd(CUdevice device, const gr_resource *image, int *fd);

#endif
