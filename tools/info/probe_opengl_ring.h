/* SPDX-License-Identifier: Apache-2.0 */
/* A probe of a ring of OpenGL's buffers. */
#ifndef INFO_PROBE_OPENGL_RING_H
#define INFO_PROBE_OPENGL_RING_H

#include "tools/info/probe_try.h"

bool probe_opengl_ring(struct probe_try *t);

#endif
