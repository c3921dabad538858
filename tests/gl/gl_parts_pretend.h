/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers at an offset in OpenGL's memory where there is no GPU: Mesa puts each at the start, so
 * the program itself imports the memory once more for each, with a header that begins further on.
 */
#ifndef GR_TESTS_GL_PARTS_PRETEND_H
#define GR_TESTS_GL_PARTS_PRETEND_H

#include <stdbool.h>

/*
 * From here on, or no longer, OpenGL does that; nothing changes with another driver. The 8 bytes
 * before each buffer are Mesa's then: the one that lies there must not need them.
 */
void pretend_offsets(bool on);

/* Meanwhile no fence is reached, as if OpenGL had work under way. False: this cannot be played. */
bool pretend_late_fences(bool late);

/* Meanwhile no fence can be made, as in a context that is lost. False: this cannot be played. */
bool pretend_no_fences(bool none);

#endif
