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

#ifndef _WIN32
#include <unistd.h>
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

static CUresult CUDAAPI current_context(CUcontext *context)
{
    *context = (CUcontext)(uintptr_t)0x10;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI make_event(CUevent *event, unsigned flags)
{
    (void)flags;
    *event = new_handle();
    return CUDA_SUCCESS;
}

/* ---- The look-up ----------------------------------------------------------------------------- */

static const struct driver_row table[] = {
    ROW("cuImportExternalMemory", import_memory),
    ROW("cuExternalMemoryGetMappedBuffer", map_buffer),
    ROW("cuExternalMemoryGetMappedMipmappedArray", map_array),
    ROW("cuDestroyExternalMemory", destroy_memory),
    ROW("cuMemFree", free_pointer),
    ROW("cuMipmappedArrayDestroy", destroy_array),
    ROW("cuImportExternalSemaphore", import_semaphore),
    ROW("cuDestroyExternalSemaphore", destroy_semaphore),
    ROW("cuSignalExternalSemaphoresAsync", signal_semaphores),
    ROW("cuWaitExternalSemaphoresAsync", wait_semaphores),
    ROW("cuStreamBatchMemOp", batch_mem_op),
    ROW("cuGetErrorName", error_name),
    ROW("cuCtxGetCurrent", current_context),
    ROW("cuCtxGetDevice", device_zero),
    ROW("cuEventCreate", make_event),
};

DEFINE_LOOK_UP(table, recorder_api)
