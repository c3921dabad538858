/* SPDX-License-Identifier: Apache-2.0 */
/* Which transport a resource of an existing OpenGL object gets. */
#ifndef GR_GL_TRANSPORT_H
#define GR_GL_TRANSPORT_H

#include <grinterop/gl.h>

#include "gl/delete_later.h"

/*
 * Those of the `possible` transports that the options allow; `otherwise` where they name none. 0
 * after an error, which is recorded.
 */
unsigned gl_transports_take(const gr_gl_options *options, unsigned possible, unsigned otherwise,
                            const char *call);

/*
 * As gr_from_gl_buffer() and gr_from_gl_image(), by copy, for objects that grinterop made and the
 * resource then owns. NULL after an error, which is recorded under `call`, and owns nothing.
 */
gr_resource *gl_copy_buffer(struct gl_names *made, unsigned flags, const char *call);
gr_resource *gl_copy_image(struct gl_names *made, unsigned int target, unsigned flags,
                           const char *call);

#endif
