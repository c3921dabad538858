/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of test_wgl share. */
#ifndef GR_TESTS_WGL_H
#define GR_TESTS_WGL_H

#include <epoxy/gl.h>

#include <grinterop/cuda.h>
#include <grinterop/gl.h>
#include <grinterop/image.h>

#include "tests/drivers/follower_driver.h"
#include "tests/support/own_wgl.h"
#include "tests/support/plain_case.h"

/* The driver that follows OpenGL; NULL until it is loaded. */
extern const struct follower_api *follower;

/* The context of each case, which is current when it begins. */
extern struct own_wgl own;

/* Not a default stream. */
#define STREAM ((CUstream)(uintptr_t)0x20)

/*
 * Runs one case in a new context, with something bound and an error of OpenGL's pending, which both
 * have to be so when it has ended.
 */
void wgl_case(const char *group, const char *name, const char *(*run)(void));

/* The groups. */
void wgl_without_driver(void);
void wgl_calls(void);
void wgl_contexts(void);

/* The last error's class, and words of its sentence. */
const char *wgl_refused(gr_status status, const char *words);

/* A buffer of these bytes, and whether it has them. */
GLuint wgl_buffer(const void *bytes, size_t size);
const char *wgl_buffer_has(GLuint name, const void *bytes, size_t size);

/* A texture of GL_RGBA8, square; sets its texels, or gets them. */
GLuint wgl_texture(int side);
void wgl_texels_set(GLuint name, int side, const void *texels);
void wgl_texels_get(GLuint name, int side, void *texels);

#endif
