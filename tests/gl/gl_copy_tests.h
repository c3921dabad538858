/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of test_gl_copy.c. The driver is the one that fails on demand, which also counts calls.
 */
#ifndef GR_TESTS_GL_COPY_TESTS_H
#define GR_TESTS_GL_COPY_TESTS_H

#include "gl_transport.h"

/* With OpenGL of the fixture; of Mesa on the CPU, which is "another GPU" to CUDA; and of the
   fixture where CUDA takes no mapping of host memory. */
TCase *add_copy_case(Suite *suite, const char *name);
TCase *add_mesa_copy_case(Suite *suite, const char *name);
TCase *add_pinned_copy_case(Suite *suite, const char *name);
#define EVERY_COPY_GL add_copy_case, add_mesa_copy_case, add_pinned_copy_case

/* A case is skipped where its OpenGL is not there. */
#define COPY_TEST(...) TEST_UNLESS(copy_gl_missing(), __VA_ARGS__)
const char *copy_gl_missing(void);

/* CUDA refuses the next mapping of OpenGL's, so that the host memory is CUDA's own. */
void refuse_mapping(void);

/* By GR_TRANSPORT_COPY; the last one is of a buffer that grinterop creates. */
gr_resource *must_copy(GLuint name, unsigned flags);
gr_resource *must_copy_image(const struct image *image, unsigned flags);
gr_resource *must_create_copy(size_t size, unsigned flags);

/* gr_resource_describe() says that. */
void assert_described(const gr_resource *resource, const char *part);

#endif
