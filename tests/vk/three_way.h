/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* How the cases of test_three_way.c order the work of Vulkan, OpenGL and CUDA on shared memory. */
#ifndef GR_TESTS_THREE_WAY_H
#define GR_TESTS_THREE_WAY_H

#include "tests/support/support_vulkan.h"

enum api { VULKAN, OPENGL, CUDA, APIS };

/*
 * The OpenGL names of the shared objects, or 0. The OpenGL calls for semaphores need these names.
 */
extern GLuint gl_name, gl_texture;

/*
 * Starts a case. With `timelines`, selects timeline semaphores. Otherwise selects binary semaphores
 * or, if OpenGL has none, host waits. Returns NULL, or the reason why the selected kind is
 * unavailable.
 */
const char *choose_waits(bool timelines);

/*
 * Makes `to` the owner: all earlier work of the previous owner comes before all later work of `to`.
 * The first owner is Vulkan.
 */
void give_to(enum api to);

/* For tcase_add_checked_fixture(), after the Vulkan fixture. */
void begin_turns(void);
void end_turns(void);

#endif
