/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Pages for device memory, with guards around them. Some pages are inaccessible: freed pages, the
 * pages of an unmapped graphics resource, and virtual memory without access. If an access to such a
 * page faults, the handler prints what the page was, and then the process ends.
 */
#include "softcuda/driver/object_at.h"
#include "softcuda/driver/soft.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * The sizes of two tables. `retired` has freed ranges, whose addresses stay reserved; `guarded` has
 * the other inaccessible ranges. A fault message can name the object of a range in a table.
 */
#define MAX_RETIRED 64
#define MAX_GUARDED 512

/* A range of pages, and the object in them. */
typedef struct {
    unsigned char *start; /* NULL: unused */
    size_t length;
    soft_object object;
} guarded_range;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static guarded_range guarded[MAX_GUARDED];
static guarded_range retired[MAX_RETIRED];
static unsigned next_retired;
static unsigned next_guarded;
static _Atomic size_t guards;

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t round_up(size_t size, size_t multiple)
{
    return (size + multiple - 1) & ~(multiple - 1);
}

/* The range of whole pages that contains the object. */
static guarded_range pages_of(void *base, size_t size, const char *what)
{
    size_t lead = (uintptr_t)base % page_size();
    return (guarded_range){
        (unsigned char *)base - lead, round_up(lead + size, page_size()), {base, size, what}};
}

/* ---- Faults ---------------------------------------------------------------------------------- */

/* Finds the smallest range that is at most `distance` bytes from the address. */
static const guarded_range *find(const guarded_range *table, size_t length,
                                 const unsigned char *address, size_t distance)
{
    const guarded_range *found = NULL;
    for (const guarded_range *range = table; range < table + length; range++)
        if (range->start && address + distance >= range->start &&
            address < range->start + range->length + distance &&
            (!found || range->length < found->length))
            found = range;
    return found;
}

bool soft_pages_find(const unsigned char *address, size_t distance, soft_object *object)
{
    const guarded_range *range = find(guarded, MAX_GUARDED, address, distance);
    if (!range)
        range = find(retired, MAX_RETIRED, address, 0);
    if (range)
        *object = range->object;
    return range;
}

bool soft_pages_have(const unsigned char *address)
{
    soft_object object;
    SOFT_LOCK(&lock);
    return soft_pages_find(address, 0, &object);
}

void soft_pages_log(const char *use, const void *address)
{
    soft_object object;
    SOFT_LOCK(&lock);
    if (soft_pages_find(address, 0, &object))
        soft_log(SOFT_WARN, "%s was given address %p of %s", use, address, object.what);
}

/* ---- Guards ---------------------------------------------------------------------------------- */

bool soft_guards_reserve(size_t count)
{
    return atomic_fetch_add(&guards, count) + count <= SOFT_MOST_GUARDED;
}

void soft_guards_release(size_t count)
{
    atomic_fetch_sub(&guards, count);
}

/* Reserves `length` bytes of pages between guards; NULL if that fails. */
static unsigned char *map_block(void *hint, size_t length, int protection)
{
    if (length > SIZE_MAX / 2)
        return NULL;
    unsigned char *start = hint ? (unsigned char *)hint - SOFT_GUARD_SIZE : NULL;
    void *block =
        mmap(start, length + 2 * SOFT_GUARD_SIZE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block == MAP_FAILED ? NULL : (unsigned char *)block + SOFT_GUARD_SIZE;
}

static void unmap_block(unsigned char *pages, size_t length)
{
    munmap(pages - SOFT_GUARD_SIZE, length + 2 * SOFT_GUARD_SIZE);
}

static unsigned char *map_guarded(size_t length)
{
    unsigned char *pages = map_block(NULL, length, PROT_NONE);
    if (!pages || mprotect(pages, length, PROT_READ | PROT_WRITE) == 0)
        return pages;
    unmap_block(pages, length);
    return NULL;
}

/*
 * For use when memory maps are scarce: the guards are accessible, so that neighbouring blocks can
 * share one map. Huge pages are disabled, because they would fill the guards with memory.
 */
static unsigned char *map_unguarded(size_t length)
{
    unsigned char *pages = map_block(NULL, length, PROT_READ | PROT_WRITE);
    if (pages)
        madvise(pages - SOFT_GUARD_SIZE, length + 2 * SOFT_GUARD_SIZE, MADV_NOHUGEPAGE);
    return pages;
}

/* ---- Pages ----------------------------------------------------------------------------------- */

void *soft_pages_new(size_t size, size_t alignment, bool poison)
{
    size_t rounded = round_up(size, alignment);
    size_t length = round_up(size, page_size());
    if (length < size)
        return NULL;
    unsigned char *pages = soft_guards_reserve(1) ? map_guarded(length) : NULL;
    if (!pages)
        pages = map_unguarded(length);
    if (!pages) {
        soft_guards_release(1);
        return NULL;
    }
    if (poison)
        memset(pages, SOFT_POISON, length);
    return pages + length - rounded;
}

void *soft_pages_map(int fd, size_t offset, size_t size)
{
    size_t lead = offset % page_size();
    size_t length = round_up(lead + size, page_size());
    unsigned char *pages = map_block(NULL, length, PROT_NONE);
    if (!pages)
        return NULL;
    if (mmap(pages, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
             (off_t)(offset - lead)) == MAP_FAILED) {
        unmap_block(pages, length);
        return NULL;
    }
    soft_guards_reserve(1);
    return pages + lead;
}

bool soft_pages_share(void *base, size_t size, int fd, size_t offset)
{
    const guarded_range range = pages_of(base, size, NULL);
    void *copy = mmap(NULL, range.length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
    if (copy == MAP_FAILED)
        return false;
    memcpy(copy, range.start, range.length);
    if (mremap(copy, range.length, range.length, MREMAP_MAYMOVE | MREMAP_FIXED, range.start) !=
        MAP_FAILED)
        return true;
    munmap(copy, range.length);
    return false;
}

static unsigned char *reserve_at(unsigned char *hint, size_t size)
{
    unsigned char *pages = map_block(hint, size, PROT_NONE);
    if (!pages || pages == hint)
        return pages;
    unmap_block(pages, size);
    return NULL;
}

static unsigned char *reserve_aligned(size_t size, size_t alignment)
{
    size_t all;
    if (__builtin_add_overflow(size, alignment, &all))
        return NULL;
    unsigned char *pages = map_block(NULL, all, PROT_NONE);
    if (!pages)
        return NULL;
    size_t lead = (alignment - (uintptr_t)pages % alignment) % alignment;
    if (lead > 0)
        munmap(pages - SOFT_GUARD_SIZE, lead);
    munmap(pages + lead + size + SOFT_GUARD_SIZE, alignment - lead);
    return pages + lead;
}

void *soft_pages_reserve(void *hint, size_t size, size_t alignment)
{
    unsigned char *pages = NULL;
    if (hint && (uintptr_t)hint % alignment == 0)
        pages = reserve_at(hint, size);
    if (!pages)
        pages = reserve_aligned(size, alignment);
    if (pages)
        soft_guards_reserve(1);
    return pages;
}

/* The index of the slot for exactly these pages, or MAX_GUARDED. */
static size_t find_exactly_locked(const guarded_range *range)
{
    size_t slot = 0;
    while (slot < MAX_GUARDED &&
           !(guarded[slot].start == range->start && guarded[slot].length == range->length))
        slot++;
    return slot;
}

static void forget_guarded_locked(const guarded_range *range)
{
    size_t slot = find_exactly_locked(range);
    if (slot < MAX_GUARDED)
        guarded[slot].start = NULL;
}

/*
 * Unmaps the pages. A hole in a mapping needs one more memory map: if the process may have no more,
 * only frees the memory.
 */
static void release_pages(const guarded_range *range)
{
    if (munmap(range->start, range->length) != 0)
        madvise(range->start, range->length, MADV_DONTNEED);
}

static void forget_guarded(const guarded_range *range)
{
    SOFT_LOCK(&lock);
    forget_guarded_locked(range);
}

/* Stores the range, and returns the range that had its slot before. */
static guarded_range record_retired(const guarded_range *range)
{
    SOFT_LOCK(&lock);
    guarded_range evicted = retired[next_retired];
    retired[next_retired] = *range;
    next_retired = (next_retired + 1) % MAX_RETIRED;
    return evicted;
}

void soft_pages_retire(void *pages, size_t size, const char *what)
{
    guarded_range range = pages_of(pages, size, what);
    soft_guards_release(1);
    forget_guarded(&range);
    range.start -= SOFT_GUARD_SIZE;
    range.length += 2 * SOFT_GUARD_SIZE;
    /* A new mapping over the old one frees the memory but keeps the addresses reserved. */
    if (mmap(range.start, range.length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0) != MAP_FAILED)
        range = record_retired(&range);
    if (range.start)
        release_pages(&range);
}

static CUresult guard(void *pages, size_t size, const char *what, int protection)
{
    const guarded_range range = pages_of(pages, size, what);
    pthread_mutex_lock(&lock);
    size_t slot = find_exactly_locked(&range);
    if (slot == MAX_GUARDED)
        for (slot = 0; slot < MAX_GUARDED && guarded[slot].start;)
            slot++;
    if (slot == MAX_GUARDED) /* the slot's old range loses its message, but stays protected */
        slot = next_guarded++ % MAX_GUARDED;
    guarded[slot] = range;
    pthread_mutex_unlock(&lock);
    int failed = mprotect(range.start, range.length, protection);
    return failed ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult soft_pages_guard(void *pages, size_t size, const char *what)
{
    return guard(pages, size, what, PROT_NONE);
}

CUresult soft_pages_guard_writes(void *pages, size_t size, const char *what)
{
    return guard(pages, size, what, PROT_READ);
}

CUresult soft_pages_unguard(void *pages, size_t size)
{
    const guarded_range range = pages_of(pages, size, NULL);
    forget_guarded(&range);
    int failed = mprotect(range.start, range.length, PROT_READ | PROT_WRITE);
    return failed ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}
