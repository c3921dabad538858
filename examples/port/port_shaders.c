/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The shaders shared by both renderers. */
#include "port_renderer.h"

GLSL(port_surface, vert);
GLSL(port_surface, frag);
GLSL(port_background, frag);
