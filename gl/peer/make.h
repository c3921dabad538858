/* SPDX-License-Identifier: Apache-2.0 */
/* Making a resource of the peer transport. */
#ifndef GR_GL_PEER_MAKE_H
#define GR_GL_PEER_MAKE_H

#include "gl/object.h"

/* Makes the object a resource of this transport. NULL after an error: `r` is the caller's still. */
gr_resource *gl_peer_make(struct gl_resource *r, unsigned flags, const char *call);

#endif
