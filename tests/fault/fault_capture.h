/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The cases of fault_capture.c, for test_fault.c. */
#ifndef GR_TESTS_FAULT_CAPTURE_H
#define GR_TESTS_FAULT_CAPTURE_H

#include "tests/support/support.h"

#endif
