/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks whether OpenGL and CUDA can share storage, and explains why not. */
#ifndef GR_GL_SHARED_CHECK_H
#define GR_GL_SHARED_CHECK_H

#include <cuda.h>
#include <grinterop/gl.h>

#include "lib/cuda/context.h"
#include "gl/context/context.h"

/*
 * Records what is missing. The OpenGL context and a CUDA context are current. *drawing receives the
 * CUDA device that draws and has the storage. This is the device of the CUDA context, or, for
 * buffers, a device whose memory the CUDA device can access.
 */
gr_status gl_shared_check(const struct gl_context *context, bool is_image, CUdevice *drawing,
                          const char *call);

/*
 * Writes "storage on ..., CUDA on ..., which reaches it by peer access"; "" if both are the same
 * device.
 */
void gl_shared_format_devices(CUdevice drawing, char *text, size_t size);

/*
 * Whether gr_gl_buffer_create() and gr_gl_image_create() can share storage between these contexts,
 * which are current. Writes the reason. Records no error, and leaves no OpenGL object, binding or
 * error behind.
 */
bool gl_shared_probe(const struct gl_context *context, const struct gr_context *cuda, char *reason,
                     size_t size);

#endif
