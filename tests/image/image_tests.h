/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the source files of test_image. */
#ifndef GR_TESTS_IMAGE_TESTS_H
#define GR_TESTS_IMAGE_TESTS_H

#include "tests/support/support_image.h"

#endif
