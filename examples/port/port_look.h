/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The camera of port. */
#ifndef PORT_LOOK_H
#define PORT_LOOK_H

#include "examples/support/orbit.h"
#include "port_renderer.h"

/* `width` and `height` count the pixels drawn. */
struct port_view port_look(int width, int height, const struct orbit *orbit);

#endif
