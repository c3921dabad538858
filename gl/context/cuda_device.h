/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds the CUDA device that OpenGL draws on, as the driver reports it. */
#ifndef GR_GL_CONTEXT_CUDA_DEVICE_H
#define GR_GL_CONTEXT_CUDA_DEVICE_H

#include <cuda.h>
#include <grinterop/gl.h>

/*
 * Queries the first CUDA device of the current OpenGL context; CUDA_ERROR_NO_DEVICE if there is
 * none. Records no error.
 */
CUresult gl_drawing_device(CUdevice *device);

/*
 * Finds the CUDA device of the current OpenGL context, for gr_context_choose(). Records an error if
 * there is none.
 */
gr_status gl_find_drawing_device(CUdevice *device);

/*
 * Finds the CUDA device for copies if no CUDA context is current: the device that draws, otherwise
 * the first device.
 */
gr_status gl_find_nearest_device(CUdevice *device);

/* Whether the driver lists `device` among the devices of the current OpenGL context. */
bool gl_draws_on(CUdevice device);

#endif
