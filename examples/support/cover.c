/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The vertex shader for covering the whole viewport. */
#include "cover.h"

GLSL(cover, vert);
