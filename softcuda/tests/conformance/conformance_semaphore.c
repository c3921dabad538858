/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The codes for arguments of external semaphores. Each driver imports different handles, so the
 * behaviour of semaphores is tested elsewhere: in test_soft_semaphore.c, and in the tests of the
 * APIs that create semaphores.
 */
#define _GNU_SOURCE
#include "conformance.h"

GROUP("external semaphores", add_conformance_case)

TEST(semaphore_import_codes)
{
    CUexternalSemaphore kept = (CUexternalSemaphore)&kept, semaphore = kept;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC good = {.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD,
                                                .handle.fd = -1};
    CALL(ERROR_INVALID_VALUE, ImportExternalSemaphore(NULL, &good));
    CALL(ERROR_INVALID_VALUE, ImportExternalSemaphore(&semaphore, NULL));
    CALL_WITH(ERROR_INVALID_VALUE, flags = 1, ImportExternalSemaphore(&semaphore, &changed));
    CALL_WITH(ERROR_INVALID_VALUE, type = (CUexternalSemaphoreHandleType)0,
              ImportExternalSemaphore(&semaphore, &changed));
    CALL_WITH(ERROR_INVALID_VALUE, type = (CUexternalSemaphoreHandleType)9999,
              ImportExternalSemaphore(&semaphore, &changed));
    ck_assert_ptr_eq(semaphore, kept);

    CALL(SUCCESS, CtxSetCurrent(NULL));
    CALL(ERROR_INVALID_CONTEXT, ImportExternalSemaphore(&semaphore, &good));
    CALL(SUCCESS, CtxSetCurrent(fx.context));
}

TEST(semaphore_signal_and_wait_codes)
{
    CUexternalSemaphore none = NULL;
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal = {.params.fence.value = 1};
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait = {.params.fence.value = 1};
    CALL(ERROR_INVALID_VALUE, SignalExternalSemaphoresAsync(NULL, &signal, 1, fx.stream));
    CALL(ERROR_INVALID_VALUE, WaitExternalSemaphoresAsync(NULL, &wait, 1, fx.stream));
    CALL(ERROR_INVALID_VALUE, SignalExternalSemaphoresAsync(&none, NULL, 1, fx.stream));
    CALL(ERROR_INVALID_VALUE, WaitExternalSemaphoresAsync(&none, NULL, 1, fx.stream));
    CALL_SOFT(ERROR_INVALID_HANDLE, SignalExternalSemaphoresAsync(&none, &signal, 1, fx.stream));
    CALL_SOFT(ERROR_INVALID_HANDLE, WaitExternalSemaphoresAsync(&none, &wait, 1, fx.stream));
    CALL(ERROR_INVALID_VALUE, DestroyExternalSemaphore(NULL));
}
