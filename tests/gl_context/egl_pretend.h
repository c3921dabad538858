/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tests gr_egl_create() with a simulated EGL, whose reports and refusals no installed EGL produces.
 */
#ifndef GR_TESTS_EGL_PRETEND_H
#define GR_TESTS_EGL_PRETEND_H

#include "tests/support/support.h"

TCase *add_egl_case(Suite *suite, const char *name);

#endif
