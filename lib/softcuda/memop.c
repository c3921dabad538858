/* SPDX-License-Identifier: Apache-2.0 */
/* Stream memory operations: a stream writes a word, or waits until a word has a value. */
#include "scheduler.h"

#include <time.h>

#define POLL_NANOSECONDS 50000

typedef struct {
    void *address;
    uint64_t value;
    unsigned flags;
    bool is_64_bit;
} word_operation;

static uint64_t load(const word_operation *operation)
{
    if (operation->is_64_bit)
        return __atomic_load_n((uint64_t *)operation->address, __ATOMIC_ACQUIRE);
    return __atomic_load_n((uint32_t *)operation->address, __ATOMIC_ACQUIRE);
}

static bool is_satisfied(const word_operation *operation)
{
    uint64_t found = load(operation);
    switch (operation->flags & CU_STREAM_WAIT_VALUE_NOR) {
    case CU_STREAM_WAIT_VALUE_EQ:
        return found == operation->value;
    case CU_STREAM_WAIT_VALUE_AND:
        return (found & operation->value) != 0;
    case CU_STREAM_WAIT_VALUE_NOR:
        found = ~(found | operation->value);
        return operation->is_64_bit ? found != 0 : (uint32_t)found != 0;
    default:
        found -= operation->value;
        return operation->is_64_bit ? (int64_t)found >= 0 : (int32_t)(uint32_t)found >= 0;
    }
}

/* The word may be written by the host, which tells nobody: look from time to time. */
static void run_wait(void *copy)
{
    const struct timespec pause = {.tv_nsec = POLL_NANOSECONDS};
    while (!is_satisfied(copy))
        nanosleep(&pause, NULL);
}

static void run_write(void *copy)
{
    const word_operation *operation = copy;
    if (operation->is_64_bit)
        __atomic_store_n((uint64_t *)operation->address, operation->value, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint32_t *)operation->address, (uint32_t)operation->value,
                         __ATOMIC_RELEASE);
}

static CUresult push(CUstream handle, void (*run)(void *), CUdeviceptr address, uint64_t value,
                     unsigned flags, unsigned known_flags, bool is_64_bit)
{
    soft_stream *stream;
    CUresult result = soft_stream_get(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (run == run_wait && (flags & CU_STREAM_WAIT_VALUE_FLUSH))
        return CUDA_ERROR_NOT_SUPPORTED;
    word_operation operation = {(void *)(uintptr_t)address, value, flags, is_64_bit};
    size_t size = is_64_bit ? 8 : 4;
    if (address % size || (flags & ~known_flags) || !soft_range_holds(operation.address, size))
        return CUDA_ERROR_INVALID_VALUE;
    return soft_stream_push_copy(stream, run, &operation, sizeof operation);
}

#define WRITE_FLAGS 0u                         /* the driver refuses the one that cuda.h has */
#define WAIT_FLAGS  (CU_STREAM_WAIT_VALUE_NOR) /* both bits of the comparison */

SOFT_API cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                                 unsigned int flags)
{
    return push(stream, run_write, addr, value, flags, WRITE_FLAGS, false);
}

SOFT_API cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                                 unsigned int flags)
{
    return push(stream, run_write, addr, value, flags, WRITE_FLAGS, true);
}

SOFT_API cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                                unsigned int flags)
{
    return push(stream, run_wait, addr, value, flags, WAIT_FLAGS, false);
}

SOFT_API cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                                unsigned int flags)
{
    return push(stream, run_wait, addr, value, flags, WAIT_FLAGS, true);
}

SOFT_API_ptsz(cuStreamWriteValue32_v2,
              (CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags),
              (stream, addr, value, flags))
SOFT_API_ptsz(cuStreamWriteValue64_v2,
              (CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags),
              (stream, addr, value, flags))
SOFT_API_ptsz(cuStreamWaitValue32_v2,
              (CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags),
              (stream, addr, value, flags))
SOFT_API_ptsz(cuStreamWaitValue64_v2,
              (CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags),
              (stream, addr, value, flags))
