/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the files of test_gl_in_flight.c: resources with frames in flight. The cases pretend
 * that OpenGL is that of NVIDIA, so that the shader copies, and load the CUDA driver that fails on
 * demand.
 */
#ifndef GR_TESTS_GL_IN_FLIGHT_H
#define GR_TESTS_GL_IN_FLIGHT_H

#include "gl_transport.h"
#include "tests/support/shader_calls.h"
#include "tests/tensor/tensor.h"

TCase *add_flight_case(Suite *suite, const char *name);

/* The same while OpenGL compiles no shader, so that its calls copy. */
TCase *add_flight_case_without_shaders(Suite *suite, const char *name);
#define EVERY_FLIGHT add_flight_case, add_flight_case_without_shaders

/* A test is skipped where OpenGL and CUDA cannot share the staging buffers. */
#define FLIGHT_TEST(...) TEST_UNLESS(flight_missing(), __VA_ARGS__)
const char *flight_missing(void);

/* Options with frames in flight, also where no shader copies. Valid until the next call. */
const gr_gl_options *flight_options(unsigned in_flight);

gr_resource *must_fly(GLuint name, unsigned flags, unsigned in_flight);
gr_resource *must_fly_image(const struct image *image, unsigned flags, unsigned in_flight);

#endif
