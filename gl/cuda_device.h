/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA device that OpenGL draws on, as the driver says. */
#ifndef GR_GL_CUDA_DEVICE_H
#define GR_GL_CUDA_DEVICE_H

#include <grinterop/gl.h>

/*
 * The CUDA device that the current OpenGL context draws on, for gr_context_choose(). Records the
 * error.
 */
gr_status gl_find_drawing_device(CUdevice *device);

/* The CUDA device to copy to where no context is current: the one that draws, else the first. */
gr_status gl_find_nearest_device(CUdevice *device);

/*
 * Whether the CUDA device is one of those that the current OpenGL context draws on, as the driver
 * says.
 */
bool gl_draws_on(CUdevice device);

#endif
