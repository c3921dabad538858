/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The dynamic shared memory of blocks. A host thread runs one block at a time and keeps memory for
 * the largest possible block. A block's shared memory is at the end of these pages, with guards on
 * both sides, so that an access beyond the launch's size faults. A launch without shared memory has
 * only guards.
 */
#include "softcuda/driver/kernel/fault.h"
#include "softcuda/driver/kernel/kernel_run.h"
#include "softcuda/driver/soft.h"

#include <sys/mman.h>
#include <unistd.h>

/* The number of bytes that a warp accesses at once, 4 per lane; more than any vector type needs. */
#define SHARED_ALIGNMENT ((size_t)128)

/*
 * The size of each guard. Indices into shared memory are small, so wrong indices do not reach far.
 */
#define SHARED_GUARD ((size_t)1024 * 1024)

/*
 * The gap after the second guard. If a stack beyond the gap overflows by one large frame, the
 * overflow does not reach the shared memory.
 */
#define SHARED_GAP SOFT_LARGE_FRAME

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

static size_t pages_size(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (GR_CUHOST_SHARED_MAX + page - 1) / page * page;
}

static size_t span(void)
{
    return SHARED_GUARD + pages_size() + SHARED_GUARD + SHARED_GAP;
}

static void free_pages(void *pages)
{
    munmap(pages, span());
}

static void make_key(void)
{
    pthread_key_create(&key, free_pages);
}

static unsigned char *new_pages(void)
{
    unsigned char *pages =
        mmap(NULL, span(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    if (mprotect(pages + SHARED_GUARD, pages_size(), PROT_READ | PROT_WRITE) != 0 ||
        pthread_setspecific(key, pages) != 0) {
        free_pages(pages);
        return NULL;
    }
    return pages;
}

void *soft_shared_get(size_t size)
{
    pthread_once(&key_once, make_key);
    unsigned char *pages = pthread_getspecific(key);
    if (!pages)
        pages = new_pages();
    if (!pages)
        return NULL;
    const size_t aligned = (size + SHARED_ALIGNMENT - 1) / SHARED_ALIGNMENT * SHARED_ALIGNMENT;
    unsigned char *base = pages + SHARED_GUARD + pages_size() - aligned;
    soft_this_work.shared = (soft_shared){base, size, pages, pages + span() - SHARED_GAP};
    return base;
}
