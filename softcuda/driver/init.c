/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The start and exit of the driver in a process, and its version. */
#include "softcuda/driver/stream/scheduler.h"

#include <dlfcn.h>
#include <stdatomic.h>

#include "softcuda/driver/kernel/fault.h"

#define DRIVER_VERSION 13000

enum state {
    STATE_NEW,
    STATE_READY,
    STATE_EXITING,
    STATE_FORKED, /* a forked child, which lacks the streams' threads */
};

static _Atomic enum state state;
static CUresult devices = CUDA_SUCCESS;
static pthread_once_t start_once = PTHREAD_ONCE_INIT;

_Thread_local bool soft_in_callback;
_Thread_local bool soft_default_stream_is_per_thread;

static void after_fork(void)
{
    atomic_store(&state, STATE_FORKED);
}

/*
 * Stream threads may run until the very end of the process, so the driver library is never
 * unloaded.
 */
static void stay_loaded(void)
{
    Dl_info self;
    if (dladdr((void *)(uintptr_t)cuInit, &self) && self.dli_fname)
        dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

static void start(void)
{
    stay_loaded();
    soft_fault_watch();
    pthread_atfork(NULL, NULL, after_fork);
    devices = soft_devices_init();
    if (devices == CUDA_SUCCESS)
        atomic_store(&state, STATE_READY);
}

/*
 * Work that is still queued at exit is abandoned. Stream threads are not joined, because one may be
 * blocked.
 */
__attribute__((destructor)) static void begin_exit(void)
{
    if (atomic_load(&state) == STATE_READY)
        atomic_store(&state, STATE_EXITING);
}

bool soft_is_exiting(void)
{
    return atomic_load_explicit(&state, memory_order_relaxed) == STATE_EXITING;
}

CUresult soft_check_init(void)
{
    switch (atomic_load(&state)) {
    case STATE_READY:
        return soft_in_callback ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
    case STATE_EXITING:
        return CUDA_ERROR_DEINITIALIZED;
    default:
        return CUDA_ERROR_NOT_INITIALIZED;
    }
}

SOFT_API cuInit(unsigned int Flags)
{
    SOFT_FAIL_IF(Flags != 0, CUDA_ERROR_INVALID_VALUE);
    pthread_once(&start_once, start);
    return devices == CUDA_SUCCESS ? soft_check_init() : devices;
}

SOFT_API cuDriverGetVersion(int *driverVersion)
{
    SOFT_FAIL_IF(!driverVersion, CUDA_ERROR_INVALID_VALUE);
    *driverVersion = DRIVER_VERSION;
    return CUDA_SUCCESS;
}
