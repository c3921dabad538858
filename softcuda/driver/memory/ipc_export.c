/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shares cuMemAlloc memory with other processes. The memory starts as private pages, which are the
 * fastest. The first request for a handle replaces these pages with the pages of a file, at the
 * same addresses.
 */
#include "softcuda/driver/memory/ipc_export.h"
#include "softcuda/driver/memory/ipc_handle.h"
#include "softcuda/driver/stream/scheduler.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An entry in the list of memory that other processes can open. */
typedef struct exported {
    struct exported *next;
    const unsigned char *base;
    uint64_t id; /* the id of the range */
    soft_memfd file;
    soft_ipc_handle handle;
} exported;

/* An export holds `exporting` while it waits for streams. `lock` protects the list. */
static pthread_mutex_t exporting = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static exported *all;
static _Atomic size_t count;

static bool is_idle_locked(void)
{
    for (const soft_context *context = soft_contexts; context; context = context->next)
        for (const soft_stream *stream = context->streams; stream; stream = stream->next)
            if (!soft_stream_idle(stream))
                return false;
    return true;
}

/*
 * No thread writes the memory between the copy and the exchange of the pages: the caller holds
 * soft_lock, which prevents tasks from starting.
 */
static bool share_pages(const soft_range *range, const soft_memfd *file)
{
    SOFT_LOCK(&soft_lock);
    while (!is_idle_locked())
        for (soft_context *context = soft_contexts; context; context = context->next)
            soft_context_drain(context);
    return soft_pages_share(range->base, range->size, file->fd, file->offset);
}

static CUresult fill_in(exported *e, const soft_range *range)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t lead = (uintptr_t)range->base % page;
    const size_t length = (lead + range->size + page - 1) & ~(page - 1);
    SOFT_TRY(soft_memfd_create(length, soft_device_number(range->device), &e->file));
    CUresult result = soft_ipc_describe(SOFT_IPC_MEMORY, &e->file, lead, range->size, &e->handle);
    if (result == CUDA_SUCCESS && !share_pages(range, &e->file))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS)
        soft_memfd_close(&e->file);
    return result;
}

static bool find(uint64_t id, soft_ipc_handle *handle)
{
    SOFT_LOCK(&lock);
    const exported *e = all;
    while (e && e->id != id)
        e = e->next;
    if (e)
        *handle = e->handle;
    return e;
}

static void add(exported *e)
{
    SOFT_LOCK(&lock);
    e->next = all;
    all = e;
    atomic_fetch_add(&count, 1);
}

static CUresult export(const soft_range *range, soft_ipc_handle *handle)
{
    if (find(range->id, handle))
        return CUDA_SUCCESS;
    exported *e = calloc(1, sizeof(*e));
    CUresult result = e ? fill_in(e, range) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS) {
        free(e);
        return result;
    }
    e->base = range->base;
    e->id = range->id;
    *handle = e->handle;
    add(e);
    return CUDA_SUCCESS;
}

SOFT_API cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)
{
    SOFT_TRY(soft_check_context(NULL));
    soft_range range;
    SOFT_FAIL_IF(!pHandle || !soft_range_find((void *)(uintptr_t)dptr, &range) ||
                     range.kind != SOFT_MEMORY_DEVICE || range.owner,
                 CUDA_ERROR_INVALID_VALUE);
    soft_ipc_handle handle;
    SOFT_LOCK(&exporting);
    SOFT_TRY(export(&range, &handle));
    memset(pHandle, 0, sizeof(*pHandle));
    memcpy(pHandle, &handle, sizeof(handle));
    return CUDA_SUCCESS;
}

void soft_ipc_unexport(const void *base)
{
    if (atomic_load(&count) == 0)
        return;
    pthread_mutex_lock(&lock);
    exported **link = &all;
    while (*link && (*link)->base != (const unsigned char *)base)
        link = &(*link)->next;
    exported *e = *link;
    if (e) {
        *link = e->next;
        atomic_fetch_sub(&count, 1);
    }
    pthread_mutex_unlock(&lock);
    if (!e)
        return;
    soft_memfd_close(&e->file);
    free(e);
}
