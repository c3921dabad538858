/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of test_soft_calls share. */
#ifndef GR_TESTS_SOFT_CALLS_H
#define GR_TESTS_SOFT_CALLS_H

#include "tests/support/driver_symbol.h"
#include "softcuda/tests/kernels/soft_launch.h"

#endif
