/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where port's sheet is seen from.
 */
#ifndef PORT_LOOK_H
#define PORT_LOOK_H

#include "examples/support/orbit.h"
#include "port_renderer.h"

/* For a picture that is drawn with that many pixels. */
struct port_view port_look(int width, int height, const struct orbit *orbit);

#endif
