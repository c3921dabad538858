/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Simulates buffers at an offset in OpenGL memory without a GPU. Mesa places each buffer at the
 * start of the memory. This program therefore imports the memory again for each buffer, with a
 * header that makes the buffer begin at the offset.
 */
#ifndef GR_TESTS_GL_PARTS_PRETEND_H
#define GR_TESTS_GL_PARTS_PRETEND_H

#include <stdbool.h>

/*
 * Turns the simulation on or off, without effect on other drivers. The simulation uses the 8 bytes
 * before each buffer, so the preceding buffer must not use them.
 */
void pretend_offsets(bool on);

/*
 * While on, no fence is signalled, as if OpenGL had pending work. Returns false if that cannot be
 * simulated.
 */
bool pretend_late_fences(bool late);

/*
 * While on, no fence can be created, as in a lost context. Returns false if that cannot be
 * simulated.
 */
bool pretend_no_fences(bool none);

#endif
