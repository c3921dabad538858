/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the files of test_fault: a resource, and ways to make driver calls fail. */
#ifndef GR_TESTS_FAULT_H
#define GR_TESTS_FAULT_H

#include <cuda.h>

#include "tests/drivers/fault_driver.h"
#include "tests/support/child_check.h"
#include "tests/support/support.h"
#include "tests/support/usable.h"

#define SIZE USABLE_SIZE

#define REGISTER   "cuGraphicsGLRegisterBuffer"
#define UNREGISTER "cuGraphicsUnregisterResource"
#define MAP        "cuGraphicsMapResources"
#define UNMAP      "cuGraphicsUnmapResources"

/* A buffer and its resource, created for each case. The case must leave them usable. */
extern GLuint name;
extern gr_resource *resource;
TCase *add_fault_case(Suite *suite, const char *title);

/* Forwards the next `after` calls of the driver function and makes the call after them fail. */
void let_fail(const char *function, CUresult code, long after);

/* The last error must name the driver function and the code. */
void assert_cuda_error(const char *function, CUresult code, const char *code_name);

#endif
