/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Stream memory operations: a stream writes a word, or waits until a word has a value. */
#include "softcuda/driver/memory/peer_access.h"
#include "softcuda/driver/stream/scheduler.h"

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

/* Polls the word, because the host may write it without a notification. */
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

/*
 * The flags that a call may have. cuda.h has one flag for writes, which the NVIDIA driver refuses.
 */
#define WRITE_FLAGS 0u
#define WAIT_FLAGS  (CU_STREAM_WAIT_VALUE_NOR) /* both bits that select the comparison */

static CUresult check(const word_operation *operation, const soft_context *context, bool waits)
{
    soft_range range;
    const size_t size = operation->is_64_bit ? 8 : 4;
    const unsigned known_flags = waits ? WAIT_FLAGS : WRITE_FLAGS;
    SOFT_FAIL_IF(waits && (operation->flags & CU_STREAM_WAIT_VALUE_FLUSH),
                 CUDA_ERROR_NOT_SUPPORTED);
    SOFT_FAIL_IF(
        (uintptr_t)operation->address % size || (operation->flags & ~known_flags) ||
            !soft_range_holds(operation->address, size) ||
            (soft_range_find(operation->address, &range) && !soft_can_access(context, &range)),
        CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

static CUresult push(CUstream handle, bool waits, CUdeviceptr address, uint64_t value,
                     unsigned flags, bool is_64_bit)
{
    const word_operation operation = {(void *)(uintptr_t)address, value, flags, is_64_bit};
    SOFT_GET(soft_stream *, stream, soft_stream_get(handle, &stream));
    SOFT_TRY(check(&operation, soft_stream_context(stream), waits));
    return soft_stream_push_copy(stream, waits ? run_wait : run_write, &operation,
                                 sizeof(operation));
}

#define WORD_CALL(name, type, waits)                                                               \
    SOFT_API_ptsz(name, (CUstream stream, CUdeviceptr addr, type value, unsigned int flags),       \
                  (stream, addr, value, flags))                                                    \
    {                                                                                              \
        return push(stream, waits, addr, value, flags, sizeof(value) == 8);                        \
    }
WORD_CALL(cuStreamWriteValue32_v2, cuuint32_t, false)
WORD_CALL(cuStreamWriteValue64_v2, cuuint64_t, false)
WORD_CALL(cuStreamWaitValue32_v2, cuuint32_t, true)
WORD_CALL(cuStreamWaitValue64_v2, cuuint64_t, true)

/* ---- Batches --------------------------------------------------------------------------------- */

#define MOST_OPERATIONS 256

/*
 * Reads one operation of a batch. False if the operation is a barrier, which does nothing here:
 * each operation of a stream is complete before the next begins.
 */
static bool is_word(const CUstreamBatchMemOpParams *params, word_operation *operation, bool *waits)
{
    const CUstreamBatchMemOpType type = params->operation;
    *waits = type == CU_STREAM_MEM_OP_WAIT_VALUE_32 || type == CU_STREAM_MEM_OP_WAIT_VALUE_64;
    *operation = (word_operation){
        .address =
            (void *)(uintptr_t)(*waits ? params->waitValue.address : params->writeValue.address),
        .flags = *waits ? params->waitValue.flags : params->writeValue.flags,
        .is_64_bit =
            type == CU_STREAM_MEM_OP_WAIT_VALUE_64 || type == CU_STREAM_MEM_OP_WRITE_VALUE_64,
    };
    operation->value = !operation->is_64_bit
                           ? (*waits ? params->waitValue.value : params->writeValue.value)
                           : (*waits ? params->waitValue.value64 : params->writeValue.value64);
    return type != CU_STREAM_MEM_OP_BARRIER;
}

static CUresult check_batch(const CUstreamBatchMemOpParams params[], unsigned count,
                            const soft_context *context)
{
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++) {
        word_operation operation;
        bool waits;
        switch (params[i].operation) {
        case CU_STREAM_MEM_OP_BARRIER:
            if (params[i].memoryBarrier.flags > CU_STREAM_MEMORY_BARRIER_TYPE_GPU)
                result = CUDA_ERROR_INVALID_VALUE;
            break;
        case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        case CU_STREAM_MEM_OP_WRITE_VALUE_64:
            is_word(&params[i], &operation, &waits);
            result = check(&operation, context, waits);
            break;
        default:
            result = CUDA_ERROR_INVALID_VALUE;
        }
    }
    return result;
}

SOFT_API_ptsz(cuStreamBatchMemOp_v2,
              (CUstream handle, unsigned int count, CUstreamBatchMemOpParams *paramArray,
               unsigned int flags),
              (handle, count, paramArray, flags))
{
    SOFT_GET(soft_stream *, stream, soft_stream_get(handle, &stream));
    SOFT_FAIL_IF(!paramArray || count > MOST_OPERATIONS || flags != 0, CUDA_ERROR_INVALID_VALUE);
    CUresult result = check_batch(paramArray, count, soft_stream_context(stream));
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++) {
        word_operation operation;
        bool waits;
        if (is_word(&paramArray[i], &operation, &waits))
            result = soft_stream_push_copy(stream, waits ? run_wait : run_write, &operation,
                                           sizeof(operation));
    }
    return result == CUDA_SUCCESS ? soft_stream_order(stream) : result;
}
