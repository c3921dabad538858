/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The vertex shader that covers the whole viewport with three vertices, without a vertex buffer. */
#ifndef COVER_H
#define COVER_H

#include "glsl.h"

extern const struct glsl cover_vert;

#endif
