/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Vulkan device of grinterop's own, on the GPU that OpenGL draws on: only Vulkan makes images and
 * semaphores that OpenGL and CUDA both import. One a process and GPU, which is named by its CUDA
 * device, opened at the first need and kept.
 */
#ifndef GR_GL_SHARED_PRIVATE_VULKAN_H
#define GR_GL_SHARED_PRIVATE_VULKAN_H

#include <grinterop/cuda.h>
#include <grinterop/semaphore.h>

struct gr_vk_device;

/*
 * Vulkan on that device, wrapped for the current CUDA context. The wrap is the caller's; resources
 * made of it do not keep the CUDA context. NULL, with the error, if Vulkan cannot be had.
 */
struct gr_vk_device *gl_vulkan_wrap(CUdevice device, const char *call);

/*
 * A semaphore that Vulkan made on that device and the current CUDA context imports, which it does
 * not keep. NULL, with the error, where OpenGL could not import it likewise.
 */
gr_semaphore *gl_vulkan_semaphore(CUdevice device, bool timeline, const char *call);

/* A file descriptor, the caller's, of such a semaphore, or of the memory of an image there. */
gr_status gl_vulkan_semaphore_fd(CUdevice device, const gr_semaphore *semaphore, int *fd);
gr_status gl_vulkan_memory_fd(CUdevice device, const gr_resource *image, int *fd);

#endif
