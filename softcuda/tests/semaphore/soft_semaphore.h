/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Creating, importing and using the software driver's semaphores, for all cases. */
#ifndef GR_TESTS_SOFT_SEMAPHORE_H
#define GR_TESTS_SOFT_SEMAPHORE_H

#include "tests/support/soft_semaphores.h"
#include "tests/support/support.h"

#define SEMAPHORE_TEST(...)                                                                        \
    TEST_UNLESS(soft_semaphores_load() ? NULL : "it tests the software CUDA driver", __VA_ARGS__)

/* Short names of the types. */
#define BINARY   CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD
#define TIMELINE CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD

/* The descriptor of a new semaphore. */
int make_fd(bool timeline, unsigned long long value);

CUresult try_import(int fd, CUexternalSemaphoreHandleType type, CUexternalSemaphore *semaphore);

/*
 * import_fd() imports and closes the descriptor. import_copy() imports a copy of it, so the caller
 * keeps the descriptor.
 */
CUexternalSemaphore import_fd(int fd, CUexternalSemaphoreHandleType type);
CUexternalSemaphore import_copy(int fd, CUexternalSemaphoreHandleType type);

/* A new, imported semaphore with the initial value 0. */
CUexternalSemaphore make_semaphore(CUexternalSemaphoreHandleType type);

void put_signal(CUexternalSemaphore semaphore, unsigned long long value, CUstream stream);
void put_wait(CUexternalSemaphore semaphore, unsigned long long value, CUstream stream);

/* Checks that the stream is still blocked some time later. */
void assert_waits(CUstream stream);

#endif
