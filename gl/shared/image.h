/* SPDX-License-Identifier: Apache-2.0 */
/* Images of the shared transport. */
#ifndef GR_GL_SHARED_IMAGE_H
#define GR_GL_SHARED_IMAGE_H

#include <grinterop/gl.h>

/* gr_gl_image_create() by this transport, with arguments that were checked. */
gr_resource *gl_shared_image(const gr_gl_image_desc *info, unsigned flags, const char *call);

#endif
