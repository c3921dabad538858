/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A context of OpenGL ES for the tests, in place of that of the fixture. */
#ifndef GR_TESTS_GL_ES_H
#define GR_TESTS_GL_ES_H

#include "tests/support/support_image.h"
#include "tests/tensor/tensor.h"

/* Adds a case to the suite in which the newest OpenGL ES is current. */
TCase *add_es_case(Suite *suite, const char *name);

/* Makes a new context of this version current; 0, 0: the newest. es_end() undoes it. */
gr_egl *es_begin(int major, int minor);
void es_end(gr_egl *es);

/* The context of the case. */
extern gr_egl *es_context;

/* Whether CUDA can register objects here; otherwise the cases use the copy transport alone. */
extern const gr_gl_options *const es_ways[2];
#define ES_WAYS 2

/* Moves bytes both ways between CUDA and buffers, and between CUDA and images. */
void es_check_buffers(void);
void es_check_image(const char *format, const char *target, unsigned levels,
                    const gr_gl_options *way);

#endif
