/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shaders of port, which both of its renderers use.
 */
#include "port_renderer.h"

GLSL(port_surface, vert);
GLSL(port_surface, frag);
GLSL(port_background, frag);
