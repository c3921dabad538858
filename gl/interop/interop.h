/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The interop transport: registers OpenGL objects by cuGraphics* calls. */
#ifndef GR_GL_INTEROP_INTEROP_H
#define GR_GL_INTEROP_INTEROP_H

#include "gl/object/object.h"

extern const struct gr_backend gl_interop;

#endif
