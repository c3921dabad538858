/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The known memory ranges, which argument checks accept: an array sorted by address. It has a gap
 * where the last range was added or removed: most changes are beside the last one, and so few
 * ranges move.
 */
#include "softcuda/driver/memory/device_memory.h"
#include "softcuda/driver/object_at.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static soft_range *ranges;
static size_t count;
static size_t capacity;
static size_t gap; /* the number of ranges before the gap */

static soft_range *range_at(size_t index)
{
    return &ranges[index < gap ? index : index + capacity - count];
}

static void move_gap(size_t index)
{
    const size_t room = capacity - count;
    if (index < gap)
        memmove(&ranges[index + room], &ranges[index], (gap - index) * sizeof(*ranges));
    else if (index > gap)
        memmove(&ranges[gap], &ranges[gap + room], (index - gap) * sizeof(*ranges));
    gap = index;
}

/* The number of ranges that start at or below the address. */
static size_t starts_up_to(const unsigned char *address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (range_at(middle)->base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_inside(const soft_range *range, const unsigned char *address)
{
    return address >= range->base && (size_t)(address - range->base) < range->size;
}

static void remove_at(size_t index, soft_range *removed)
{
    move_gap(index);
    if (removed)
        *removed = *range_at(index);
    count--; /* adds the range to the gap */
}

static CUresult insert(const soft_range *range)
{
    size_t index = starts_up_to(range->base);
    bool overlaps_before = index > 0 && is_inside(range_at(index - 1), range->base);
    bool overlaps_after = index < count && is_inside(range, range_at(index)->base);
    SOFT_FAIL_IF(!range->size || overlaps_before || overlaps_after, CUDA_ERROR_INVALID_VALUE);

    if (count == capacity) {
        move_gap(count);
        size_t wanted = capacity ? capacity * 2 : 64;
        soft_range *larger = realloc(ranges, wanted * sizeof(*ranges));
        SOFT_FAIL_IF(!larger, CUDA_ERROR_OUT_OF_MEMORY);
        ranges = larger;
        capacity = wanted;
    }
    move_gap(index);
    soft_range *added = &ranges[gap++];
    count++;
    *added = *range;
    if (range->context)
        added->device = soft_context_device(range->context);
    added->id = soft_next_id();
    return CUDA_SUCCESS;
}

CUresult soft_range_add(const soft_range *range)
{
    pthread_rwlock_wrlock(&lock);
    CUresult result = insert(range);
    pthread_rwlock_unlock(&lock);
    return result;
}

bool soft_range_remove(const void *base, enum soft_memory kind, soft_range *removed)
{
    pthread_rwlock_wrlock(&lock);
    size_t index = starts_up_to(base);
    bool found = index > 0 && range_at(index - 1)->base == (const unsigned char *)base &&
                 (!kind || range_at(index - 1)->kind == kind);
    if (found)
        remove_at(index - 1, removed);
    pthread_rwlock_unlock(&lock);
    return found;
}

bool soft_range_take_of_context(const soft_context *context, soft_range *removed)
{
    pthread_rwlock_wrlock(&lock);
    size_t index = 0;
    while (index < count && !(range_at(index)->context == context && !range_at(index)->owner))
        index++;
    bool found = index < count;
    if (found)
        remove_at(index, removed);
    pthread_rwlock_unlock(&lock);
    return found;
}

/* The range that starts at `base`, or NULL. */
static soft_range *find_start(const unsigned char *base)
{
    size_t index = starts_up_to(base);
    return index > 0 && range_at(index - 1)->base == base ? range_at(index - 1) : NULL;
}

void soft_range_set_access(const void *base, unsigned access)
{
    pthread_rwlock_wrlock(&lock);
    soft_range *range = find_start(base);
    if (range)
        range->access = access;
    pthread_rwlock_unlock(&lock);
}

void soft_range_set_syncs(const void *base, bool syncs)
{
    pthread_rwlock_wrlock(&lock);
    soft_range *range = find_start(base);
    if (range)
        range->syncs_copies = syncs;
    pthread_rwlock_unlock(&lock);
}

bool soft_range_find(const void *address, soft_range *range)
{
    pthread_rwlock_rdlock(&lock);
    size_t index = starts_up_to(address);
    bool found = index > 0 && is_inside(range_at(index - 1), address);
    if (found && range)
        *range = *range_at(index - 1);
    pthread_rwlock_unlock(&lock);
    return found;
}

static bool continues(const soft_range *range, const soft_range *next, unsigned devices)
{
    return range->kind == SOFT_MEMORY_VIRTUAL && next->kind == SOFT_MEMORY_VIRTUAL &&
           range->base + range->size == next->base && (next->access & devices);
}

size_t soft_range_reach(const void *address, unsigned devices)
{
    size_t reach = 0;
    pthread_rwlock_rdlock(&lock);
    size_t index = starts_up_to(address);
    if (index > 0 && is_inside(range_at(index - 1), address)) {
        while (index < count && continues(range_at(index - 1), range_at(index), devices))
            index++;
        const soft_range *last = range_at(index - 1);
        reach = (size_t)(last->base + last->size - (const unsigned char *)address);
    }
    pthread_rwlock_unlock(&lock);
    return reach;
}

bool soft_range_holds(const void *address, size_t size)
{
    size_t reach = soft_range_reach(address, ~0u);
    return reach > 0 && size <= reach;
}

/* ---- Faults ---------------------------------------------------------------------------------- */

/* The distance of the address from the range in bytes; 0 if the address is inside. */
static size_t distance_to(const soft_range *range, const unsigned char *address)
{
    if (address < range->base)
        return (size_t)(range->base - address);
    size_t offset = (size_t)(address - range->base);
    return offset < range->size ? 0 : offset - range->size + 1;
}

/* Finds the nearest range: the one that starts before the address, or the one after it. */
static bool find_near(const unsigned char *address, size_t distance, soft_object *object)
{
    const soft_range *nearest = NULL;
    size_t index = starts_up_to(address);
    for (size_t i = index > 0 ? index - 1 : 0; i < count && i <= index; i++) {
        size_t far = distance_to(range_at(i), address);
        if (range_at(i)->what && far < distance) {
            nearest = range_at(i);
            distance = far;
        }
    }
    if (nearest)
        *object = (soft_object){nearest->base, nearest->size, nearest->what};
    return nearest;
}

/*
 * The signal handler must not wait for a thread that it may have interrupted, so the lock is only
 * tried.
 */
bool soft_range_near(const unsigned char *address, size_t distance, soft_object *object)
{
    bool locked = false;
    for (int i = 0; i < 1000 && !(locked = pthread_rwlock_tryrdlock(&lock) == 0); i++)
        sched_yield();
    if (!locked)
        return false;
    bool found = find_near(address, distance, object);
    pthread_rwlock_unlock(&lock);
    return found;
}
