/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the source files of test_bad_image. */
#ifndef GR_TESTS_BAD_IMAGE_H
#define GR_TESTS_BAD_IMAGE_H

#include "tests/support/support_image.h"

void add_state_cases(Suite *suite);

#endif
