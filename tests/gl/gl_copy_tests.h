/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of test_gl_copy.c. The driver is the one that fails on demand, which also counts calls.
 */
#ifndef GR_TESTS_GL_COPY_TESTS_H
#define GR_TESTS_GL_COPY_TESTS_H

#include "tests/drivers/fault_driver.h"
#include "tests/support/support_image.h"

/* Which OpenGL a case runs with, and which host memory. */
enum copy_gl {
    GL_OF_THE_FIXTURE,
    GL_OF_MESA,    /* on the processor, beside the fixture's: "another GPU" to CUDA */
    GL_WITH_PINNED /* the fixture's, of which CUDA takes no mapping */
};

TCase *add_copy_case(Suite *suite, const char *name, enum copy_gl gl);

/* A case is skipped where its OpenGL is not there. */
#define START_COPY_TEST(name) START_TEST_UNLESS(copy_gl_missing(), name)
const char *copy_gl_missing(void);

/* CUDA refuses the next mapping of OpenGL's, so that the host memory is CUDA's own. */
void refuse_mapping(void);

/* By GR_TRANSPORT_COPY; the last one is of a buffer that grinterop creates. */
gr_resource *must_copy(GLuint name, unsigned flags);
gr_resource *must_copy_image(const struct image *image, unsigned flags);
gr_resource *must_create_copy(size_t size, unsigned flags);

/* gr_resource_describe() says that. */
void assert_described(const gr_resource *resource, const char *part);

/* The driver's function has been called that often since fault->reset(). */
#define assert_calls(function, count) ck_assert_uint_eq(fault->calls(function), count)

void add_buffer_cases(Suite *suite, enum copy_gl gl);
void add_copy_image_cases(Suite *suite, enum copy_gl gl);
void add_misuse_cases(Suite *suite, enum copy_gl gl);
void add_mapped_cases(Suite *suite, enum copy_gl gl);
void add_copy_ring_cases(Suite *suite, enum copy_gl gl);
void add_transport_cases(Suite *suite);
void add_copy_loop_cases(Suite *suite);

#endif
