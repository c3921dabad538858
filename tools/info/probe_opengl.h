/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of OpenGL's buffers and images; what: see probe.h. */
#ifndef INFO_PROBE_OPENGL_H
#define INFO_PROBE_OPENGL_H

#include "tools/info/probe_try.h"

bool probe_opengl(struct probe_try *t);

#endif
