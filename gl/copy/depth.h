/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Converts the depth of images that are copied, by the kernels of the library. Only the functions
 * that accept depth call gl_depth_enable(), so that static programs without them need no kernels.
 */
#ifndef GR_GL_COPY_DEPTH_H
#define GR_GL_COPY_DEPTH_H

#include "gl/object/object.h"

/* Call it before an image of depth is registered. */
void gl_depth_enable(void);

/* Finds the kernel for the depth of this image. */
gr_status gl_depth_prepare(struct gl_resource *r, const char *call);

/*
 * Converts `count` depths between integers in host memory and the floats of the copy, to floats if
 * `up`.
 */
gr_status gl_depth_convert(struct gl_resource *r, const unsigned char *host, size_t count, bool up,
                           CUstream stream);

#endif
