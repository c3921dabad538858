/* SPDX-License-Identifier: Apache-2.0 */
/* Images of the copy transport. */
#ifndef GR_GL_COPY_IMAGE_H
#define GR_GL_COPY_IMAGE_H

#include "gl/copy/memory.h"

/* Whether it is of a format that CUDA has, and OpenGL can move it. */
gr_status gl_copy_image_check(const struct gl_resource *r, const char *call);

/* Where its levels begin; the size of all. */
size_t gl_copy_image_layout(const struct gl_resource *r, size_t offsets[GL_COPY_MOST_LEVELS]);

/*
 * Makes the arrays. What was made stays in `copy` also after an error. The CUDA context is current.
 */
gr_status gl_copy_image_allocate(struct gl_resource *r, struct gl_copy *copy, unsigned flags);

/*
 * All levels and layers between OpenGL and host memory, within a pixel state: into the present
 * half, and from the first one.
 */
void gl_copy_image_read(const struct gl_resource *r);
void gl_copy_image_write(const struct gl_resource *r);

/* And between host memory and the arrays, in the stream. */
gr_status gl_copy_image_upload(const struct gl_resource *r, unsigned char *host, CUstream stream);
gr_status gl_copy_image_download(const struct gl_resource *r, unsigned char *host, CUstream stream);

/* Operations of the backend. */
gr_status gl_copy_image_array(const gr_resource *resource, unsigned level, unsigned layer,
                              CUarray *array);
gr_status gl_copy_image_mipmapped_array(const gr_resource *resource, CUmipmappedArray *array,
                                        const char *call);

#endif
