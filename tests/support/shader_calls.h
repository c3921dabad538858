/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The shader that copies texels: its calls, and the state of the application around them. */
#ifndef GR_TESTS_SHADER_CALLS_H
#define GR_TESTS_SHADER_CALLS_H

#include "support.h"

/*
 * Pretend that OpenGL is that of NVIDIA, and count calls until unwatch_gl(). After
 * watch_gl_without_shaders() OpenGL compiles no shader, so that grinterop uses other calls.
 */
void watch_gl(void);
void watch_gl_without_shaders(void);
void unwatch_gl(void);

/*
 * Since the start: dispatches, blits, 2D textures with immutable storage, the most texels of one,
 * and programs that still exist.
 */
extern unsigned dispatches, blits, textures;
extern size_t most_texels;
extern int programs;

/* Whether the current context had shaders at the start. */
extern bool has_shader;

/* Begin conditional rendering or transform feedback. Return the query or the program. */
GLuint begin_condition(void);
GLuint begin_feedback(void);

/* A failed link, as in an editor of shaders, leaves the former executable current. */
void link_in_vain(GLuint program);

/* Returns a vertex program with a subroutine uniform, whose subroutines are 0 and 1. */
GLuint make_subroutines(void);

/* Binds something to each unit. */
void fill_units(void);

void disturb_everything(void);

/* Checks that the state is that of remember_everything(). */
void remember_everything(void);
void assert_everything(void);

#endif
