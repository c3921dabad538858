/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Advice about managed memory: a list of spans of pages, sorted by address, without overlaps. */
#include "softcuda/driver/memory/managed_advice.h"

#include <stdlib.h>

#define PAGE ((uintptr_t)4096)

typedef struct span {
    uintptr_t first, end;
    soft_advice advice;
    struct span *next;
} span;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static span *spans;

static void to_pages(uintptr_t *first, uintptr_t *end)
{
    *first &= ~(PAGE - 1);
    *end = (*end + PAGE - 1) & ~(PAGE - 1);
}

/* Inserts a span before the one that the link refers to; NULL if out of memory. */
static span *insert(span **link, uintptr_t first, uintptr_t end, const soft_advice *advice)
{
    span *made = malloc(sizeof(*made));
    if (!made)
        return NULL;
    *made = (span){.first = first, .end = end, .next = *link};
    if (advice)
        made->advice = *advice;
    else
        made->advice = (soft_advice){.read_mostly = false};
    *link = made;
    return made;
}

/*
 * Splits the span that contains the address, if any, so that a span begins at the address. False if
 * out of memory.
 */
static bool split(uintptr_t at)
{
    for (span *one = spans; one && one->first < at; one = one->next) {
        if (one->end <= at)
            continue;
        if (!insert(&one->next, at, one->end, &one->advice))
            return false;
        one->end = at;
    }
    return true;
}

/* Adds spans with no advice so that spans cover all of [first, end). False if out of memory. */
static bool cover(uintptr_t first, uintptr_t end)
{
    span **link = &spans;
    while (first < end) {
        while (*link && (*link)->end <= first)
            link = &(*link)->next;
        uintptr_t next = *link && (*link)->first < end ? (*link)->first : end;
        if (first < next && !insert(link, first, next, NULL))
            return false;
        first = (*link)->end;
    }
    return true;
}

CUresult soft_advise(uintptr_t first, uintptr_t end,
                     void (*change)(soft_advice *advice, const void *how), const void *how)
{
    to_pages(&first, &end);
    SOFT_LOCK(&lock);
    bool ready = split(first) && split(end) && cover(first, end);
    for (span *one = spans; ready && one; one = one->next)
        if (one->first >= first && one->end <= end)
            change(&one->advice, how);
    return ready ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static void keep_common_place(soft_place *place, const soft_place *other)
{
    if (place->type != other->type || place->id != other->id)
        *place = (soft_place){SOFT_PLACE_NONE, 0};
}

static void keep_common(soft_advice *advice, const soft_advice *other)
{
    advice->read_mostly = advice->read_mostly && other->read_mostly;
    advice->accessed_by &= other->accessed_by;
    advice->accessed_by_host = advice->accessed_by_host && other->accessed_by_host;
    keep_common_place(&advice->preferred, &other->preferred);
    keep_common_place(&advice->prefetched, &other->prefetched);
}

soft_advice soft_advice_get(uintptr_t first, uintptr_t end)
{
    const soft_advice fresh = {.read_mostly = false};
    soft_advice found = fresh;
    to_pages(&first, &end);
    uintptr_t known = first;
    SOFT_LOCK(&lock);
    for (const span *one = spans; one && known < end; one = one->next) {
        if (one->end <= first)
            continue;
        if (one->first > known)
            break;
        if (known == first)
            found = one->advice;
        else
            keep_common(&found, &one->advice);
        known = one->end;
    }
    if (known < end)
        keep_common(&found, &fresh);
    return found;
}

/* Removes the advice of whole pages, because no page contains two allocations. */
void soft_advice_drop(const void *base, size_t size)
{
    uintptr_t first = (uintptr_t)base, end = first + size;
    to_pages(&first, &end);
    SOFT_LOCK(&lock);
    span **link = &spans;
    while (*link && (*link)->first < end) {
        span *one = *link;
        if (one->first >= first) {
            *link = one->next;
            free(one);
        } else {
            link = &one->next;
        }
    }
}
