/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of test_fault share: a resource, and driver calls that fail. */
#ifndef GR_TESTS_FAULT_H
#define GR_TESTS_FAULT_H

#include "fault_capture.h"
#include "tests/drivers/fault_driver.h"
#include "tests/support/child_check.h"
#include "tests/support/usable.h"

#define SIZE USABLE_SIZE

#define REGISTER   "cuGraphicsGLRegisterBuffer"
#define UNREGISTER "cuGraphicsUnregisterResource"
#define MAP        "cuGraphicsMapResources"
#define UNMAP      "cuGraphicsUnmapResources"

/* Of each case, which leaves them usable. */
extern GLuint name;
extern gr_resource *resource;
TCase *add_fault_case(Suite *suite, const char *title);

/* The call of the driver's function behind the next `after` ones fails. */
void let_fail(const char *function, CUresult code, long after);

/* The last error names the driver's function and code. */
void assert_cuda_error(const char *function, CUresult code, const char *code_name);

/* fault_causes.c's children: drivers that do not start. */
int init_fails(void);
int init_names_causes(void);
int each_function_missing(void);

#endif
