/* SPDX-License-Identifier: Apache-2.0 */
/* How the cases of test_three_way.c hand memory from one of Vulkan, OpenGL and CUDA to another. */
#ifndef GR_TESTS_THREE_WAY_H
#define GR_TESTS_THREE_WAY_H

#include "tests/support/support_vulkan.h"

enum api { VULKAN, OPENGL, CUDA, APIS };

/* OpenGL's names of what is shared, or 0: its semaphores ask for them. */
extern GLuint gl_name, gl_texture;

/*
 * At the start of a case: whether they wait for each other by timelines, or by the best of the
 * rest, which are binary semaphores or, where OpenGL has none, the host. NULL, or why that can't
 * be.
 */
const char *choose_waits(bool timelines);

/*
 * All that the owner was told to do is done before what `to` is told from now on. Vulkan is the
 * first owner.
 */
void give_to(enum api to);

/* For tcase_add_checked_fixture(), after that of Vulkan. */
void begin_turns(void);
void end_turns(void);

#endif
