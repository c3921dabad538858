/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Counts the calls of OpenGL that this process makes by the pointers of libepoxy. The first call of
 * a function is not counted.
 */
#ifndef GR_TESTS_GL_CALLS_H
#define GR_TESTS_GL_CALLS_H

#include <stdbool.h>

/*
 * Starts at 0. False if calls cannot be counted: this needs an x86-64 CPU, Linux, a shared libepoxy
 * and executable memory.
 */
bool gl_calls_start(void);

/* Ends the count and returns it. With GR_TEST_GL_CALLS=1, prints the count of each function. */
unsigned long gl_calls_end(void);

#endif
