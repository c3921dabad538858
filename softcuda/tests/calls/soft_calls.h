/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the files of test_soft_calls: entry points of the software CUDA driver that grinterop
 * does not use. Programs call them through libcuda.so.1, as the CUDA runtime does.
 */
#ifndef GR_TESTS_SOFT_CALLS_H
#define GR_TESTS_SOFT_CALLS_H

#include "tests/support/driver_symbol.h"
#include "softcuda/tests/kernels/soft_launch.h"

/* Loads a module of the tests' kernels, and gets a kernel from it (soft_calls_module.c). */
CUmodule new_module(void);
CUfunction function_of(CUmodule module, const char *name);

/* An array of 8 by 8 bytes (soft_calls_image.c). */
extern const CUDA_ARRAY3D_DESCRIPTOR flat;

#endif
