/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The vertex shader for covering the whole viewport: three vertices without a buffer. */
#ifndef COVER_H
#define COVER_H

#include "glsl.h"

extern const struct glsl cover_vert;

#endif
