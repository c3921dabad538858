/* SPDX-License-Identifier: Apache-2.0 */
/* Whether OpenGL and CUDA can share storage here, and why not. */
#ifndef GR_GL_SHARED_USABLE_H
#define GR_GL_SHARED_USABLE_H

#include <grinterop/gl.h>

#include "gl/current_context.h"

/*
 * Records what is missing. The OpenGL context, which was remembered, and a CUDA context are
 * current. *drawing is the CUDA device that draws, which has the storage: the context's, or for
 * buffers one that the context's reaches.
 */
gr_status gl_shared_check(const struct gl_context *context, bool is_image, CUdevice *drawing,
                          const char *call);

/*
 * Says where the storage is and who computes, "storage on ..., CUDA on ..., which reaches it by
 * peer access"; "" where that is one device.
 */
void gl_shared_say_devices(CUdevice drawing, char *text, size_t size);

/*
 * Whether gr_gl_buffer_create() and gr_gl_image_create() can share storage between the current
 * OpenGL context and the current CUDA context, and why or why not. GR_OK or GR_ERR_UNSUPPORTED; no
 * error is recorded and nothing is left behind: no object, no binding, no error of OpenGL's.
 */
gr_status gl_shared_usable(char *reason, size_t size);

#endif
