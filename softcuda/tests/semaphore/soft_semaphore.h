/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Creation, import and use of the semaphores of the software driver, for all cases. */
#ifndef GR_TESTS_SOFT_SEMAPHORE_H
#define GR_TESTS_SOFT_SEMAPHORE_H

#include "tests/support/support.h"

#include "softcuda/driver/stream/shared_semaphore.h"

/* The functions that only the software driver has. */
struct soft_semaphore_api {
    PFN_gr_softcuda_semaphore_create create;
    PFN_gr_softcuda_semaphore_open open;
    PFN_gr_softcuda_semaphore_close close;
    PFN_gr_softcuda_semaphore_signal signal;
    PFN_gr_softcuda_semaphore_value value;
    PFN_gr_softcuda_semaphore_wait wait;
};

extern struct soft_semaphore_api soft;

/* Looks up the functions; false if another driver is in use. */
bool soft_semaphores_load(void);

#define SEMAPHORE_TEST(...)                                                                        \
    TEST_UNLESS(soft_semaphores_load() ? NULL : "it tests the software CUDA driver", __VA_ARGS__)

/* Short names of the handle types. */
#define BINARY   CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD
#define TIMELINE CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD

/* Creates a semaphore and returns its descriptor. */
int make_fd(bool timeline, unsigned long long value);

CUresult try_import(int fd, CUexternalSemaphoreHandleType type, CUexternalSemaphore *semaphore);

/*
 * import_fd() imports a descriptor, which the import then owns. import_copy() imports a copy of it.
 */
CUexternalSemaphore import_fd(int fd, CUexternalSemaphoreHandleType type);
CUexternalSemaphore import_copy(int fd, CUexternalSemaphoreHandleType type);

/* Creates and imports a semaphore with the initial value 0. */
CUexternalSemaphore make_semaphore(CUexternalSemaphoreHandleType type);

void put_signal(CUexternalSemaphore semaphore, unsigned long long value, CUstream stream);
void put_wait(CUexternalSemaphore semaphore, unsigned long long value, CUstream stream);

/* Checks that the stream is still blocked after a short time. */
void assert_waits(CUstream stream);

#endif
