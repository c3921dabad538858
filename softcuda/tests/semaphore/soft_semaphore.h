/* SPDX-License-Identifier: Apache-2.0 */
/* What the cases of the software driver's semaphores share: how one is made, imported and used. */
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

/* Finds them; false if another driver is in use. */
bool soft_semaphores_load(void);

/* At the start of each case. */
#define need_semaphores()                                                                          \
    do {                                                                                           \
        if (!soft_semaphores_load())                                                               \
            skip("it is about the software CUDA driver, and %s is in use", gr_cuda_driver_path()); \
    } while (0)

/* The types in short. */
#define BINARY   CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD
#define TIMELINE CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD

/* A new semaphore's descriptor. */
int make_fd(bool timeline, unsigned long long value);

CUresult try_import(int fd, CUexternalSemaphoreHandleType type, CUexternalSemaphore *semaphore);

/* Imports the descriptor, which is gone then, or a copy of it. */
CUexternalSemaphore import_fd(int fd, CUexternalSemaphoreHandleType type);
CUexternalSemaphore import_copy(int fd, CUexternalSemaphoreHandleType type);

/* A new semaphore, imported; one that starts with 0. */
CUexternalSemaphore make_semaphore(CUexternalSemaphoreHandleType type);

void put_signal(CUexternalSemaphore semaphore, unsigned long long value, CUstream stream);
void put_wait(CUexternalSemaphore semaphore, unsigned long long value, CUstream stream);

/* The stream is held up: it still is, some time later. */
void assert_waits(CUstream stream);

#endif
