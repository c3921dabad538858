/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* How the cases of test_three_way.c hand memory over between Vulkan, OpenGL and CUDA. */
#ifndef GR_TESTS_THREE_WAY_H
#define GR_TESTS_THREE_WAY_H

#include "tests/support/support_vulkan.h"

enum api { VULKAN, OPENGL, CUDA, APIS };

/* The OpenGL names of the shared objects, or 0; the OpenGL semaphore calls need them. */
extern GLuint gl_name, gl_texture;

/*
 * For the start of a case: selects timeline semaphores, or the best of the rest: binary semaphores
 * or, if OpenGL has none, host waits. Returns NULL, or why that is not possible.
 */
const char *choose_waits(bool timelines);

/* Orders all earlier work of the owner before all later work of `to`. Vulkan is the first owner. */
void give_to(enum api to);

/* For tcase_add_checked_fixture(), after the Vulkan fixture. */
void begin_turns(void);
void end_turns(void);

#endif
