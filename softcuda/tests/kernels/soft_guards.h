/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of test_soft_guards share. */
#ifndef GR_TESTS_SOFT_GUARDS_H
#define GR_TESTS_SOFT_GUARDS_H

#include "soft_launch.h"

#define SIZE 1000

bool thread_sanitizer(void);

void allocate_managed(CUdeviceptr *memory, size_t size);

/* For children: what each begins with, and the same with device memory. */
void begin(void);
CUdeviceptr allocated(size_t size);

/* Writes one byte that far from the pointer, in a kernel: a miss does not come back. */
int write_at(CUdeviceptr base, long long offset);

#endif
