/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A CUDA driver that only records the calls that import, map, signal and wait, and returns the
 * results that a test sets. It shows a test the bytes that reach the driver, for handle types that
 * this system lacks. Loaded with GR_CUDA_DRIVER=<this file>.
 */
#include "recorder_driver.h"
#include "driver_answers.h"

#include <cudaTypedefs.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef _WIN32
#define EXPORTED __declspec(dllexport)
#else
#include <unistd.h>
#define EXPORTED __attribute__((visibility("default")))
#endif

/* ---- The record ------------------------------------------------------------------------------ */

#define MOST_CALLS 64
#define DMABUF_FD  9 /* missing in the headers of CUDA 12 */

static struct recorded record[MOST_CALLS];
static size_t recorded;
static uintptr_t last_handle = 0x1000;

static void reset(void)
{
    memset(record, 0, sizeof(record));
    recorded = 0;
    forget_answers();
}

static const struct recorded *nth(const char *call, size_t number)
{
    for (size_t i = 0; i < recorded; i++)
        if (strcmp(record[i].call, call) == 0 && number-- == 0)
            return &record[i];
    return NULL;
}

static size_t calls(const char *call)
{
    size_t count = 0;
    while (nth(call, count))
        count++;
    return count;
}

/* If all entries are used, the last entry is overwritten; no test makes nearly as many calls. */
static struct recorded *note(const char *call)
{
    struct recorded *place = &record[recorded < MOST_CALLS ? recorded++ : MOST_CALLS - 1];
    memset(place, 0, sizeof(*place));
    place->call = call;
    return place;
}

/* Records a call with its description, which is copied to a member of `given`. */
static struct recorded *note_with(const char *call, const void *desc, size_t size)
{
    struct recorded *place = note(call);
    memcpy(&place->given, desc, size);
    return place;
}

static void *new_handle(void)
{
    return (void *)(last_handle += 0x10);
}

static const struct recorder_api recorder_api = {
    .reset = reset, .calls = calls, .nth = nth, .answer = answer};

/* ---- Descriptors that the driver owns -------------------------------------------------------- */

/*
 * A driver owns the descriptor after a successful import. This driver closes it when the import is
 * destroyed.
 */
static struct {
    void *handle;
    int fd;
} owned[MOST_CALLS];

static void own_fd(void *handle, int fd)
{
    for (size_t i = 0; i < MOST_CALLS; i++) {
        if (!owned[i].handle) {
            owned[i].handle = handle;
            owned[i].fd = fd;
            return;
        }
    }
}

static void end_fd(void *handle)
{
    for (size_t i = 0; i < MOST_CALLS; i++) {
        if (owned[i].handle == handle) {
            owned[i].handle = NULL;
#ifndef _WIN32
            close(owned[i].fd);
#endif
            return;
        }
    }
}

/* ---- External memory and semaphores ---------------------------------------------------------- */

/*
 * Returns the result for the call. On success, stores a new value in `place`, a handle or a device
 * pointer.
 */
static CUresult answer_with_handle(const struct recorded *call, void *place)
{
    CUresult code = answer_of(call->call);
    if (code == CUDA_SUCCESS) {
        void *made = new_handle();
        memcpy(place, &made, sizeof(made));
    }
    return code;
}

/*
 * Returns the result for an import. On success, stores a new handle, and the driver owns `fd`. If
 * `fd` is -1, the handle is not a descriptor.
 */
static CUresult answer_import(struct recorded *call, void *place, int fd)
{
    CUresult code = answer_with_handle(call, place);
    if (code != CUDA_SUCCESS)
        return code;
    memcpy(&call->handle, place, sizeof(call->handle));
    if (fd >= 0)
        own_fd(call->handle, fd);
    return code;
}

static CUresult CUDAAPI import_memory(CUexternalMemory *memory,
                                      const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc)
{
    struct recorded *call = note_with("cuImportExternalMemory", desc, sizeof(*desc));
    bool is_fd =
        desc->type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD || (int)desc->type == DMABUF_FD;
    return answer_import(call, memory, is_fd ? desc->handle.fd : -1);
}

static CUresult CUDAAPI map_buffer(CUdeviceptr *pointer, CUexternalMemory memory,
                                   const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc)
{
    struct recorded *call = note_with("cuExternalMemoryGetMappedBuffer", desc, sizeof(*desc));
    call->handle = memory;
    return answer_with_handle(call, pointer);
}

static CUresult CUDAAPI map_array(CUmipmappedArray *array, CUexternalMemory memory,
                                  const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc)
{
    struct recorded *call =
        note_with("cuExternalMemoryGetMappedMipmappedArray", desc, sizeof(*desc));
    call->handle = memory;
    return answer_with_handle(call, array);
}

static CUresult note_end(const char *name, void *handle)
{
    note(name)->handle = handle;
    return answer_of(name);
}

static CUresult CUDAAPI destroy_memory(CUexternalMemory memory)
{
    end_fd(memory);
    return note_end("cuDestroyExternalMemory", memory);
}

static CUresult CUDAAPI free_pointer(CUdeviceptr pointer)
{
    return note_end("cuMemFree", (void *)(uintptr_t)pointer);
}

static CUresult CUDAAPI destroy_array(CUmipmappedArray array)
{
    return note_end("cuMipmappedArrayDestroy", array);
}

static CUresult CUDAAPI import_semaphore(CUexternalSemaphore *semaphore,
                                         const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc)
{
    struct recorded *call = note_with("cuImportExternalSemaphore", desc, sizeof(*desc));
    bool is_fd = desc->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD ||
                 desc->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
    return answer_import(call, semaphore, is_fd ? desc->handle.fd : -1);
}

static CUresult CUDAAPI destroy_semaphore(CUexternalSemaphore semaphore)
{
    end_fd(semaphore);
    return note_end("cuDestroyExternalSemaphore", semaphore);
}

static struct recorded *note_points(const char *name, const CUexternalSemaphore *semaphores,
                                    unsigned count, CUstream stream)
{
    struct recorded *call = note(name);
    unsigned kept = count < RECORDER_SEMAPHORES ? count : RECORDER_SEMAPHORES;
    call->count = count;
    call->stream = stream;
    memcpy(call->semaphores, semaphores, kept * sizeof(*semaphores));
    return call;
}

static CUresult CUDAAPI signal_semaphores(const CUexternalSemaphore *semaphores,
                                          const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *params,
                                          unsigned count, CUstream stream)
{
    struct recorded *call =
        note_points("cuSignalExternalSemaphoresAsync", semaphores, count, stream);
    unsigned kept = count < RECORDER_SEMAPHORES ? count : RECORDER_SEMAPHORES;
    memcpy(call->given.signals, params, kept * sizeof(*params));
    return answer_of(call->call);
}

static CUresult CUDAAPI wait_semaphores(const CUexternalSemaphore *semaphores,
                                        const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params,
                                        unsigned count, CUstream stream)
{
    struct recorded *call = note_points("cuWaitExternalSemaphoresAsync", semaphores, count, stream);
    unsigned kept = count < RECORDER_SEMAPHORES ? count : RECORDER_SEMAPHORES;
    memcpy(call->given.waits, params, kept * sizeof(*params));
    return answer_of(call->call);
}

static CUresult CUDAAPI batch_mem_op(CUstream stream, unsigned count,
                                     CUstreamBatchMemOpParams *params, unsigned flags)
{
    struct recorded *call = note("cuStreamBatchMemOp");
    (void)flags;
    call->stream = stream;
    call->count = count;
    call->given.operation = params[0];
    return answer_of(call->call);
}

/* ---- Other functions that grinterop calls ---------------------------------------------------- */

static CUresult CUDAAPI error_name(CUresult code, const char **name)
{
    static const struct {
        CUresult code;
        const char *name;
    } names[] = {
        {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
        {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
        {CUDA_ERROR_OPERATING_SYSTEM, "CUDA_ERROR_OPERATING_SYSTEM"},
        {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},
        {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED"},
        {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].code == code) {
            *name = names[i].name;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult CUDAAPI current_context(CUcontext *context)
{
    *context = (CUcontext)(uintptr_t)0x10;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI device_zero(CUdevice *device)
{
    *device = 0;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI make_event(CUevent *event, unsigned flags)
{
    (void)flags;
    *event = new_handle();
    return CUDA_SUCCESS;
}

/* Stands in for every other function. On all 64-bit systems the caller removes the arguments. */
static CUresult CUDAAPI do_nothing(void)
{
    return CUDA_SUCCESS;
}

/* ---- The look-up ----------------------------------------------------------------------------- */

/* X(name, function) */
#define FUNCTIONS(X)                                                                               \
    X(cuImportExternalMemory, import_memory)                                                       \
    X(cuExternalMemoryGetMappedBuffer, map_buffer)                                                 \
    X(cuExternalMemoryGetMappedMipmappedArray, map_array)                                          \
    X(cuDestroyExternalMemory, destroy_memory)                                                     \
    X(cuMemFree, free_pointer)                                                                     \
    X(cuMipmappedArrayDestroy, destroy_array)                                                      \
    X(cuImportExternalSemaphore, import_semaphore)                                                 \
    X(cuDestroyExternalSemaphore, destroy_semaphore)                                               \
    X(cuSignalExternalSemaphoresAsync, signal_semaphores)                                          \
    X(cuWaitExternalSemaphoresAsync, wait_semaphores)                                              \
    X(cuStreamBatchMemOp, batch_mem_op)                                                            \
    X(cuGetErrorName, error_name)                                                                  \
    X(cuCtxGetCurrent, current_context)                                                            \
    X(cuCtxGetDevice, device_zero)                                                                 \
    X(cuEventCreate, make_event)

typedef CUresult(CUDAAPI *any_function)(void);

#define ROW(name, function) {#name, (any_function)(uintptr_t)function},

static const struct {
    const char *name;
    any_function function;
} table[] = {FUNCTIONS(ROW)};

/* cuda.h defines one of the two names as a macro; which one depends on its version. */
#undef cuGetProcAddress
EXPORTED CUresult CUDAAPI
recorder_look_up(const char *name, void **found, int version, cuuint64_t flags,
                 CUdriverProcAddressQueryResult *status) __asm__("cuGetProcAddress_v2");

CUresult CUDAAPI recorder_look_up(const char *name, void **found, int version, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult *status)
{
    (void)version;
    (void)flags;
    if (status)
        *status = CU_GET_PROC_ADDRESS_SUCCESS;
    if (strcmp(name, "recorder_api") == 0) {
        const void *api = &recorder_api;
        memcpy(found, &api, sizeof(api));
        return CUDA_SUCCESS;
    }
    any_function function = strcmp(name, "cuGetProcAddress") == 0
                                ? (any_function)(uintptr_t)recorder_look_up
                                : do_nothing;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (strcmp(table[i].name, name) == 0)
            function = table[i].function;
    memcpy(found, &function, sizeof(function));
    return CUDA_SUCCESS;
}
