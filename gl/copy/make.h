/* SPDX-License-Identifier: Apache-2.0 */
/* Making a resource of the copy transport. */
#ifndef GR_GL_COPY_MAKE_H
#define GR_GL_COPY_MAKE_H

#include "gl/object.h"

/* Makes the object a resource of this transport. NULL after an error: `r` is the caller's still. */
gr_resource *gl_copy_make(struct gl_resource *r, unsigned flags, const char *call);

#endif
