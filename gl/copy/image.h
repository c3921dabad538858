/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Images of the copy transport. */
#ifndef GR_GL_COPY_IMAGE_H
#define GR_GL_COPY_IMAGE_H

#include "gl/copy/memory.h"

/* Checks that CUDA supports the format and that OpenGL can copy the image. */
gr_status gl_copy_image_check(const struct gl_resource *r, const char *call);

/* Sets the offset of each level and returns the total size. */
size_t gl_copy_image_layout(const struct gl_resource *r, size_t offsets[GL_COPY_MOST_LEVELS]);

/* Returns the size of the device memory for depth that CUDA converts; 0 for other images. */
size_t gl_copy_image_memory(const struct gl_resource *r);

/*
 * Creates the arrays, and loads the kernels for depth. After an error the arrays created so far
 * stay in `copy`. The CUDA context is current.
 */
gr_status gl_copy_image_allocate(struct gl_resource *r, struct gl_copy *copy, unsigned flags,
                                 const char *call);

/*
 * Copy all levels and layers between OpenGL and host memory. Call these functions between
 * gl_pixel_state_begin() and gl_pixel_state_end(). Reads go to the current half; writes come from
 * the current part.
 */
void gl_copy_image_read(const struct gl_resource *r);
void gl_copy_image_write(const struct gl_resource *r);

/* Copy between host memory and the arrays, in the stream. */
gr_status gl_copy_image_upload(const struct gl_resource *r, unsigned char *host, CUstream stream);
gr_status gl_copy_image_download(const struct gl_resource *r, unsigned char *host, CUstream stream);

/* Operations of the backend. */
gr_status gl_copy_image_array(const gr_resource *resource, unsigned level, unsigned layer,
                              CUarray *array);
gr_status gl_copy_image_mipmapped_array(const gr_resource *resource, CUmipmappedArray *array,
                                        const char *call);

#endif
