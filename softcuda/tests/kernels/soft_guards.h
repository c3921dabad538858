/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Declarations that the files of test_soft_guards share. */
#ifndef GR_TESTS_SOFT_GUARDS_H
#define GR_TESTS_SOFT_GUARDS_H

#include "soft_launch.h"

#define SIZE 1000

bool thread_sanitizer(void);

/*
 * For child processes: begin() sets up the fixture and the kernels; allocated() also allocates
 * device memory.
 */
void begin(void);
CUdeviceptr allocated(size_t size);

/* Writes one byte at base + offset in a kernel. Does not return if the access faults. */
int write_at(CUdeviceptr base, long long offset);

#endif
