/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Handles are in memory pages that are never freed, so that a handle can be validated by its
 * address alone.
 */
#include "gl/compat/compat.h"
#include "lib/base/lock.h"

#include <stdint.h>
#include <stdlib.h>

#define PAGE_HANDLES 64

struct page {
    struct page *next;
    struct compat_handle handles[PAGE_HANDLES];
};

static struct gr_lock lock = GR_LOCK(COMPAT_HANDLES);
static struct page *pages;
static struct compat_handle *first_free, **last_free = &first_free;

static void put_last(struct compat_handle *handle)
{
    handle->next_free = NULL;
    *last_free = handle;
    last_free = &handle->next_free;
}

struct compat_handle *compat_handle_new(void)
{
    GR_LOCKED(&lock);
    if (!first_free) {
        struct page *page = calloc(1, sizeof(*page));
        if (!page)
            return NULL;
        page->next = pages;
        pages = page;
        for (size_t i = 0; i < PAGE_HANDLES; i++)
            put_last(&page->handles[i]);
    }
    struct compat_handle *handle = first_free;
    first_free = handle->next_free;
    if (!first_free)
        last_free = &first_free;
    *handle = (struct compat_handle){0};
    return handle;
}

void compat_handle_end(struct compat_handle *handle)
{
    GR_LOCKED(&lock);
    handle->resource = NULL;
    handle->buffer = NULL;
    put_last(handle);
}

/* The owner of a handle. NOBODY: the handle is NULL or has ended. */
enum owner { NOBODY, OURS, CUDAS };

static enum owner owner_of(CUgraphicsResource resource)
{
    enum owner owner = resource ? CUDAS : NOBODY;
    GR_LOCKED(&lock);
    for (const struct page *page = pages; resource && page; page = page->next) {
        /* for an address before the page this wraps around to a large number */
        const uintptr_t offset = (uintptr_t)resource - (uintptr_t)page->handles;
        if (offset < sizeof(page->handles) && offset % sizeof(page->handles[0]) == 0)
            owner = ((struct compat_handle *)resource)->resource ? OURS : NOBODY;
    }
    return owner;
}

bool compat_handle_is_cudas(CUgraphicsResource resource)
{
    return owner_of(resource) == CUDAS;
}

static CUresult check(enum owner owner, CUgraphicsResource resource, const char *call)
{
    if (owner == OURS)
        return CUDA_SUCCESS;
    if (owner == CUDAS)
        return COMPAT_REFUSE(CUDA_ERROR_INVALID_HANDLE, call,
                             "The resource %p was not registered by compat.h, but others in the "
                             "list were: map the two kinds in separate calls.",
                             (void *)resource);
    if (resource)
        return COMPAT_REFUSE(CUDA_ERROR_INVALID_HANDLE, call,
                             "The resource %p is no longer valid: it was unregistered before.",
                             (void *)resource);
    return COMPAT_REFUSE(CUDA_ERROR_INVALID_HANDLE, call,
                         "The resource is NULL: did its registration fail?");
}

CUresult compat_handle_check(CUgraphicsResource resource, const char *call)
{
    return check(owner_of(resource), resource, call);
}

CUresult compat_handle_begin(CUgraphicsResource resource, const char *call,
                             struct compat_handle **handle)
{
    *handle = NULL;
    COMPAT_TRY(compat_begin());
    const enum owner owner = owner_of(resource);
    if (owner == CUDAS)
        return CUDA_SUCCESS;
    *handle = (struct compat_handle *)resource;
    return check(owner, resource, call);
}
