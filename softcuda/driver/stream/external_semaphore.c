/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * External semaphores: cuImportExternalSemaphore and related calls for the software driver's
 * semaphores (shared_semaphore.h). Signals and waits are tasks of their stream; a wait blocks only
 * the stream's thread.
 */
#include "softcuda/driver/owned.h"
#include "softcuda/driver/stream/peer_wait.h"
#include "softcuda/driver/stream/shared_semaphore.h"

#include <stdalign.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* An imported semaphore. */
typedef struct {
    soft_owned owned;
    gr_softcuda_semaphore *semaphore;
} external_semaphore;

/*
 * The signals or waits of one call. The task on the stream gets a copy, and each entry has a
 * reference to its semaphore.
 */
typedef struct {
    soft_context *context;
    size_t count;
    struct {
        gr_softcuda_semaphore *semaphore;
        uint64_t value;
    } points[];
} batch;

/*
 * A thread that finds an import by its handle holds this lock until it has added its own reference
 * to the semaphore. Locked before `imports.lock`.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
SOFT_OWNED_LIST(imports, SOFT_KIND_SEMAPHORE, end_import)

/* ---- Lifetime -------------------------------------------------------------------------------- */

/* Distinguishes unsupported types from invalid types. */
static CUresult check_type(CUexternalSemaphoreHandleType type)
{
    static int logged;
    if (type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD ||
        type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD)
        return CUDA_SUCCESS;
    bool exists = type >= CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD &&
                  type <= CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32;
    return exists ? soft_unsupported(&logged, "an external semaphore of Windows or NvSci")
                  : CUDA_ERROR_INVALID_VALUE;
}

/*
 * Opens the semaphore. Refuses a handle type that does not match the semaphore: a GPU driver may
 * not detect this mistake.
 */
static CUresult open_as(const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc,
                        gr_softcuda_semaphore **semaphore)
{
    static int logged;
    CUresult result = gr_softcuda_semaphore_open(desc->handle.fd, semaphore);
    if (result == CUDA_ERROR_INVALID_VALUE && !__atomic_exchange_n(&logged, 1, __ATOMIC_RELAXED))
        soft_log(SOFT_WARN,
                 "cuImportExternalSemaphore: descriptor %d is not a semaphore of this driver, "
                 "which can import only its own semaphores",
                 desc->handle.fd);
    SOFT_TRY(result);
    bool wanted = desc->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
    if (soft_semaphore_is_timeline(*semaphore) == wanted)
        return CUDA_SUCCESS;
    gr_softcuda_semaphore_close(*semaphore);
    return CUDA_ERROR_INVALID_VALUE;
}

/* Takes over the caller's reference to the semaphore if it succeeds. */
static CUresult list(soft_context *context, gr_softcuda_semaphore *semaphore,
                     CUexternalSemaphore *handle)
{
    external_semaphore *import = malloc(sizeof(*import));
    SOFT_FAIL_IF(!import, CUDA_ERROR_OUT_OF_MEMORY);
    pthread_mutex_lock(&lock);
    import->owned.context = context;
    import->semaphore = semaphore;
    import->owned.handle = *handle = soft_handle_new(SOFT_KIND_SEMAPHORE, import);
    if (*handle)
        soft_owned_add(&imports, &import->owned);
    pthread_mutex_unlock(&lock);
    if (*handle)
        return CUDA_SUCCESS;
    free(import);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

SOFT_API cuImportExternalSemaphore(CUexternalSemaphore *extSem_out,
                                   const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *semHandleDesc)
{
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    SOFT_FAIL_IF(!extSem_out || !semHandleDesc || semHandleDesc->flags != 0,
                 CUDA_ERROR_INVALID_VALUE);
    SOFT_TRY(check_type(semHandleDesc->type));

    CUexternalSemaphore handle;
    SOFT_GET(gr_softcuda_semaphore *, semaphore, open_as(semHandleDesc, &semaphore));
    CUresult result = list(context, semaphore, &handle);
    if (result != CUDA_SUCCESS) {
        gr_softcuda_semaphore_close(semaphore);
        return result;
    }
    close(semHandleDesc->handle.fd);
    *extSem_out = handle;
    return CUDA_SUCCESS;
}

/*
 * Queued work has its own references to the semaphore. A call that looks up the import holds the
 * lock until it has added its own reference, so the import is not freed in between.
 */
static void end_import(void *object)
{
    external_semaphore *import = object;
    pthread_mutex_lock(&lock);
    soft_owned_remove(&imports, &import->owned);
    pthread_mutex_unlock(&lock);
    gr_softcuda_semaphore_close(import->semaphore);
    free(import);
}

SOFT_API cuDestroyExternalSemaphore(CUexternalSemaphore extSem)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!extSem, CUDA_ERROR_INVALID_VALUE);
    external_semaphore *import = soft_handle_drop(SOFT_KIND_SEMAPHORE, extSem);
    SOFT_FAIL_IF(!import, CUDA_ERROR_INVALID_HANDLE);
    end_import(import);
    return CUDA_SUCCESS;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static void drop_holds(const batch *work)
{
    for (size_t i = 0; i < work->count; i++)
        gr_softcuda_semaphore_close(work->points[i].semaphore);
}

/* As on a GPU, signals after work that failed are not executed. */
static void run_signals(void *payload)
{
    const batch *work = payload;
    pthread_mutex_lock(&soft_lock);
    bool failed = work->context->sticky != CUDA_SUCCESS;
    pthread_mutex_unlock(&soft_lock);
    for (size_t i = 0; i < work->count && !failed; i++)
        soft_semaphore_signal(work->points[i].semaphore, work->points[i].value);
    drop_holds(work);
}

/* When the process exits, this thread stops in pause() and consumes no further signals. */
static void run_waits(void *payload)
{
    const batch *work = payload;
    time_t since = 0;
    bool given_up = false;
    for (size_t i = 0; i < work->count && !given_up; i++) {
        do {
            while (soft_is_exiting())
                pause();
        } while (!soft_semaphore_wait_slice(work->points[i].semaphore, work->points[i].value) &&
                 !(given_up = soft_peer_wait_gives_up(
                       work->context, &since, "an external semaphore that is never signalled")));
    }
    drop_holds(work);
}

/* ---- Entry points ---------------------------------------------------------------------------- */

/* Adds a semaphore of the batch's context to the batch. */
static CUresult add(batch *work, CUexternalSemaphore handle, uint64_t value)
{
    SOFT_LOCK(&lock);
    const external_semaphore *import = soft_handle_get(SOFT_KIND_SEMAPHORE, handle);
    bool is_good = import && import->owned.context == work->context;
    if (is_good) {
        soft_semaphore_hold(import->semaphore);
        work->points[work->count].semaphore = import->semaphore;
        work->points[work->count++].value = value;
    }
    return is_good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/*
 * The parameters of signals or of waits. The two types only have the value and the flags in common.
 */
typedef struct {
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *signals;
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *waits;
} parameters;

static CUresult add_all(batch *work, const CUexternalSemaphore *handles, parameters of,
                        unsigned count)
{
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++) {
        unsigned flags = of.signals ? of.signals[i].flags : of.waits[i].flags;
        uint64_t value =
            of.signals ? of.signals[i].params.fence.value : of.waits[i].params.fence.value;
        result = flags ? CUDA_ERROR_INVALID_VALUE : add(work, handles[i], value);
    }
    return result;
}

static CUresult push(const CUexternalSemaphore *handles, parameters of, unsigned count,
                     CUstream handle)
{
    SOFT_GET(soft_stream *, stream, soft_stream_get(handle, &stream));
    SOFT_FAIL_IF(!handles || (!of.signals && !of.waits) || count == 0, CUDA_ERROR_INVALID_VALUE);

    alignas(batch) unsigned char small[SOFT_PAYLOAD]; /* avoids an allocation per call */
    size_t size = sizeof(batch) + count * sizeof(*((batch *)0)->points);
    batch *work = size <= sizeof(small) ? (batch *)(void *)small : malloc(size);
    SOFT_FAIL_IF(!work, CUDA_ERROR_OUT_OF_MEMORY);
    work->context = soft_stream_context(stream);
    work->count = 0;
    CUresult result = add_all(work, handles, of, count);
    if (result == CUDA_SUCCESS)
        result = soft_stream_push_copy(stream, of.signals ? run_signals : run_waits, work, size);
    if (result != CUDA_SUCCESS)
        drop_holds(work);
    if ((void *)work != small)
        free(work);
    return result;
}

SOFT_API_ptsz(cuSignalExternalSemaphoresAsync,
              (const CUexternalSemaphore *extSemArray,
               const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *paramsArray, unsigned int numExtSems,
               CUstream stream),
              (extSemArray, paramsArray, numExtSems, stream))
{
    return push(extSemArray, (parameters){.signals = paramsArray}, numExtSems, stream);
}

SOFT_API_ptsz(cuWaitExternalSemaphoresAsync,
              (const CUexternalSemaphore *extSemArray,
               const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *paramsArray, unsigned int numExtSems,
               CUstream stream),
              (extSemArray, paramsArray, numExtSems, stream))
{
    return push(extSemArray, (parameters){.waits = paramsArray}, numExtSems, stream);
}
