/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the files of test_gl_copy.c. The tests load the CUDA driver that fails on demand and
 * counts calls.
 */
#ifndef GR_TESTS_GL_COPY_TESTS_H
#define GR_TESTS_GL_COPY_TESTS_H

#include "gl_transport.h"
#include "tests/support/shader_calls.h"

/*
 * Cases with the OpenGL of the fixture; with Mesa on the CPU, which is "another GPU" to CUDA, and
 * compiles no shaders; with the OpenGL of the fixture while CUDA refuses to register mapped host
 * memory; and with CUDA on another device than OpenGL, where images are copied by
 * GR_TRANSPORT_PEER.
 */
TCase *add_copy_case(Suite *suite, const char *name);
TCase *add_mesa_copy_case(Suite *suite, const char *name);
TCase *add_pinned_copy_case(Suite *suite, const char *name);
TCase *add_peer_copy_case(Suite *suite, const char *name);
#define EVERY_COPY_GL  add_copy_case, add_mesa_copy_case, add_pinned_copy_case
#define EVERY_IMAGE_GL EVERY_COPY_GL, add_peer_copy_case

/* A test is skipped if the OpenGL of its case is not available. */
#define COPY_TEST(...) TEST_UNLESS(copy_gl_missing(), __VA_ARGS__)
const char *copy_gl_missing(void);

/*
 * Makes CUDA refuse to register the next OpenGL mapping, so that the library uses pinned CUDA
 * memory.
 */
void refuse_mapping(void);

/*
 * The options of must_copy_image(). With CUDA on another device they also allow GR_TRANSPORT_PEER.
 */
const gr_gl_options *image_options(void);

/* Create a resource by image_options() or GR_TRANSPORT_COPY. must_create_copy() lets grinterop
 * create the buffer. */
gr_resource *must_copy(GLuint name, unsigned flags);
gr_resource *must_copy_image(const struct image *image, unsigned flags);
gr_resource *must_create_copy(size_t size, unsigned flags);

/* Checks that an image made by image_options() has the expected transport. */
void assert_image_transport(const gr_resource *resource);

#endif
