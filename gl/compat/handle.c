/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Handles are in memory pages that are never freed, so that a handle can be validated by its
 * address alone.
 */
#include "gl/compat/handle.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "gl/compat/code.h"

#define PAGE_HANDLES 64

struct page {
    struct page *next;
    struct compat_handle handles[PAGE_HANDLES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct page *pages;
static struct compat_handle *first_free, **last_free = &first_free;

static void put_last(struct compat_handle *handle)
{
    handle->next_free = NULL;
    *last_free = handle;
    last_free = &handle->next_free;
}

static bool add_page(void)
{
    struct page *page = calloc(1, sizeof(*page));
    if (!page)
        return false;
    page->next = pages;
    pages = page;
    for (size_t i = 0; i < PAGE_HANDLES; i++)
        put_last(&page->handles[i]);
    return true;
}

struct compat_handle *compat_handle_new(void)
{
    struct compat_handle *handle = NULL;
    pthread_mutex_lock(&lock);
    if (first_free || add_page()) {
        handle = first_free;
        first_free = handle->next_free;
        if (!first_free)
            last_free = &first_free;
        *handle = (struct compat_handle){0};
    }
    pthread_mutex_unlock(&lock);
    return handle;
}

void compat_handle_end(struct compat_handle *handle)
{
    pthread_mutex_lock(&lock);
    handle->resource = NULL;
    handle->buffer = NULL;
    put_last(handle);
    pthread_mutex_unlock(&lock);
}

static bool is_in(const struct page *page, uintptr_t at)
{
    uintptr_t first = (uintptr_t)page->handles;
    return at >= first && at < first + sizeof(page->handles) &&
           (at - first) % sizeof(page->handles[0]) == 0;
}

enum compat_owner compat_handle_owner(CUgraphicsResource handle)
{
    enum compat_owner owner = handle ? COMPAT_CUDAS : COMPAT_NOBODY;
    pthread_mutex_lock(&lock);
    for (const struct page *page = pages; handle && page; page = page->next)
        if (is_in(page, (uintptr_t)handle))
            owner = ((struct compat_handle *)handle)->resource ? COMPAT_OURS : COMPAT_NOBODY;
    pthread_mutex_unlock(&lock);
    return owner;
}

struct compat_handle *compat_handle_get(CUgraphicsResource handle, const char *call, CUresult *code)
{
    switch (compat_handle_owner(handle)) {
    case COMPAT_OURS:
        return (struct compat_handle *)handle;
    case COMPAT_CUDAS:
        *code = compat_refuse(CUDA_ERROR_INVALID_HANDLE, call,
                              "The resource %p was not registered by compat.h, but others in the "
                              "list were: map the two kinds in separate calls.",
                              (void *)handle);
        return NULL;
    case COMPAT_NOBODY:
        break;
    }
    if (handle)
        *code = compat_refuse(CUDA_ERROR_INVALID_HANDLE, call,
                              "The resource %p is no longer valid: it was unregistered before.",
                              (void *)handle);
    else
        *code = compat_refuse(CUDA_ERROR_INVALID_HANDLE, call,
                              "The resource is NULL: did its registration fail?");
    return NULL;
}
