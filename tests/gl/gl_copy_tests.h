/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of test_gl_copy.c. The driver is the one that fails on demand, which also counts calls.
 */
#ifndef GR_TESTS_GL_COPY_TESTS_H
#define GR_TESTS_GL_COPY_TESTS_H

#include "tests/drivers/fault_driver.h"
#include "tests/support/support_image.h"

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

/* The fixture's context is current no more, and again. */
void leave_context(void);
void enter_context(void);

/* By GR_TRANSPORT_COPY; the last one is of a buffer that grinterop creates. */
gr_resource *must_copy(GLuint name, unsigned flags);
gr_resource *must_copy_image(const struct image *image, unsigned flags);
gr_resource *must_create_copy(size_t size, unsigned flags);

/* gr_resource_describe() says that. */
void assert_described(const gr_resource *resource, const char *part);

/* The driver's function has been called that often since fault->reset(). */
#define assert_calls(function, count) ck_assert_uint_eq(fault->calls(function), count)

#endif
