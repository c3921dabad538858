/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of test_soft_calls share. */
#ifndef GR_TESTS_SOFT_CALLS_H
#define GR_TESTS_SOFT_CALLS_H

#include "tests/support/driver_symbol.h"
#include "softcuda/tests/kernels/soft_launch.h"

/* A module of the tests' kernels, and a kernel of it (soft_calls_module.c). */
CUmodule new_module(void);
CUfunction function_of(CUmodule module, const char *name);

/* An array of 8 by 8 bytes (soft_calls_image.c). */
extern const CUDA_ARRAY3D_DESCRIPTOR flat;

#endif
