/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of test_soft_calls share. */
#ifndef GR_TESTS_SOFT_CALLS_H
#define GR_TESTS_SOFT_CALLS_H

#include "tests/support/driver_symbol.h"
#include "softcuda/tests/kernels/soft_launch.h"

/* Children. */
int exchange_with_opengl_2(void);
int exchange_with_opengl_3(void);
int module_of_a_text(void);
int primary_context_is_reset(void);
int rows_before_init(void);

#endif
