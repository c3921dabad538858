/* SPDX-License-Identifier: Apache-2.0 */
/* The peer transport: memory on CUDA's GPU, copied from and to OpenGL's buffer on another. */
#ifndef GR_GL_PEER_PEER_H
#define GR_GL_PEER_PEER_H

#include "gl/object.h"

extern const struct gr_backend gl_peer;

#endif
