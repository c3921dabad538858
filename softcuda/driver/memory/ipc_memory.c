/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Memory of other processes: a view of the file that contains the memory, mapped for one context
 * per device.
 */
#include "softcuda/driver/memory/device_memory.h"
#include "softcuda/driver/memory/ipc_handle.h"

#include <stdlib.h>
#include <string.h>

typedef struct opened {
    struct opened *next;
    soft_context *context;
    unsigned char *base;
    unsigned holders;
    soft_ipc_handle handle;
} opened;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static opened *all;

static opened *find_locked(const soft_ipc_handle *handle, CUdevice device)
{
    opened *o = all;
    while (o && (memcmp(&o->handle, handle, sizeof(*handle)) != 0 ||
                 soft_context_device(o->context) != device))
        o = o->next;
    return o;
}

static CUresult map(const soft_ipc_handle *handle, opened *o)
{
    SOFT_GET(soft_memfd, file, soft_ipc_open(SOFT_IPC_MEMORY, handle, "cuIpcOpenMemHandle", &file));
    soft_range range = {.size = handle->size,
                        .kind = SOFT_MEMORY_EXTERNAL,
                        .what = "memory of another process, of cuIpcOpenMemHandle",
                        .flags = SOFT_EXTERNAL_OWN,
                        .context = o->context,
                        .owner = o};
    range.base = soft_memfd_map(&file, handle->start, handle->size);
    soft_memfd_close(&file);
    SOFT_FAIL_IF(!range.base, CUDA_ERROR_OUT_OF_MEMORY);
    CUresult result = soft_range_add(&range);
    if (result != CUDA_SUCCESS)
        soft_device_memory_free(&range, "memory of another process, of a failed open");
    o->base = range.base;
    return result;
}

static CUresult open_locked(const soft_ipc_handle *handle, soft_context *context,
                            CUdeviceptr *pointer)
{
    opened *o = find_locked(handle, soft_context_device(context));
    SOFT_FAIL_IF(o && o->context != context, CUDA_ERROR_INVALID_HANDLE);
    if (!o) {
        o = calloc(1, sizeof(*o));
        SOFT_FAIL_IF(!o, CUDA_ERROR_OUT_OF_MEMORY);
        o->context = context;
        CUresult result = map(handle, o);
        if (result != CUDA_SUCCESS) {
            free(o);
            return result;
        }
        o->handle = *handle;
        o->next = all;
        all = o;
    }
    o->holders++;
    *pointer = (CUdeviceptr)(uintptr_t)o->base;
    return CUDA_SUCCESS;
}

SOFT_API cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    SOFT_FAIL_IF(!pdptr || Flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, CUDA_ERROR_INVALID_VALUE);
    soft_ipc_handle found;
    memcpy(&found, &handle, sizeof(found));
    SOFT_LOCK(&lock);
    return open_locked(&found, context, pdptr);
}

SOFT_API_v1(cuIpcOpenMemHandle, (CUdeviceptr * pdptr, CUipcMemHandle handle, unsigned int Flags),
            (pdptr, handle, Flags))

/* ---- Closing --------------------------------------------------------------------------------- */

/* Frees an object that was removed from the list. */
static void end(opened *o)
{
    soft_range range;
    if (soft_range_remove(o->base, SOFT_MEMORY_EXTERNAL, &range))
        soft_device_memory_free(&range, "memory of another process after cuIpcCloseMemHandle");
    free(o);
}

/*
 * Drops a reference to the object that starts at `base`. If it was the last one, removes the object
 * from the list and returns it in *last. False if there is no such object.
 */
static bool drop_hold(const unsigned char *base, opened **last)
{
    SOFT_LOCK(&lock);
    opened **link = &all;
    while (*link && (*link)->base != base)
        link = &(*link)->next;
    opened *o = *link;
    *last = o && --o->holders == 0 ? o : NULL;
    if (*last)
        *link = o->next;
    return o;
}

/* Like cuMemFree, waits for work that may still use the memory. */
SOFT_API cuIpcCloseMemHandle(CUdeviceptr dptr)
{
    SOFT_TRY(soft_check_context(NULL));
    opened *last;
    SOFT_FAIL_IF(!drop_hold((const unsigned char *)(uintptr_t)dptr, &last),
                 CUDA_ERROR_INVALID_VALUE);
    if (!last)
        return CUDA_SUCCESS;
    soft_contexts_drain();
    end(last);
    return CUDA_SUCCESS;
}

static opened *pop_of_context(const soft_context *context)
{
    SOFT_LOCK(&lock);
    opened **link = &all;
    while (*link && (*link)->context != context)
        link = &(*link)->next;
    opened *o = *link;
    if (o)
        *link = o->next;
    return o;
}

static void end_opened(soft_context *context)
{
    for (opened *o = pop_of_context(context); o; o = pop_of_context(context))
        end(o);
}
SOFT_AT_CONTEXT_END(end_opened)
