/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the files of test_wgl. */
#ifndef GR_TESTS_WGL_H
#define GR_TESTS_WGL_H

#include <epoxy/gl.h>

#include <grinterop/cuda.h>
#include <grinterop/gl.h>
#include <grinterop/image.h>

#include "tests/drivers/follower_driver.h"
#include "tests/support/own_wgl.h"
#include "tests/support/plain_case.h"

/* The follower driver; NULL until it is loaded. */
extern const struct follower_api *follower;

/* The context of the case, which is current at the start of the case. */
extern struct own_wgl own;

/* A stream that is not a default stream. */
#define STREAM ((CUstream)(uintptr_t)0x20)

/*
 * Runs one case in a new context, with objects bound and an OpenGL error pending. The bindings and
 * the error must be unchanged afterwards.
 */
void wgl_case(const char *group, const char *name, const char *(*run)(void));

/* The groups of cases. */
void wgl_without_driver(void);
void wgl_calls(void);
void wgl_contexts(void);

/* Checks the status of the last error, and that its message contains `words`. */
const char *wgl_refused(gr_status status, const char *words);

/* Creates a buffer with these bytes. wgl_buffer_has() checks the bytes of a buffer. */
GLuint wgl_buffer(const void *bytes, size_t size);
const char *wgl_buffer_has(GLuint name, const void *bytes, size_t size);

/* Creates a square GL_RGBA8 texture. The other functions set its texels, or read them. */
GLuint wgl_texture(int side);
void wgl_texels_set(GLuint name, int side, const void *texels);
void wgl_texels_get(GLuint name, int side, void *texels);

#endif
