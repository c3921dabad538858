/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages that the device's memory is made of. Freed pages, and those of a graphics resource that
 * isn't mapped or of virtual memory without access, are kept inaccessible, and a fault in one
 * prints what it was before the process dies of it.
 */
#include "softcuda/soft.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Ranges of addresses that stay unused after they were freed, and those that a fault can be told
 * from. */
#define MAX_RETIRED 64
#define MAX_GUARDED 512

typedef struct {
    unsigned char *base; /* NULL: unused */
    size_t size;
    const char *what;
} guarded_range;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static guarded_range guarded[MAX_GUARDED];
static guarded_range retired[MAX_RETIRED];
static unsigned next_retired;
static unsigned next_guarded;
static struct sigaction before_segv, before_bus;
static pthread_once_t handler_once = PTHREAD_ONCE_INIT;

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t whole_pages(size_t size)
{
    return (size + page_size() - 1) & ~(page_size() - 1);
}

/* ---- Faults ---------------------------------------------------------------------------------- */

/* The smallest range that holds the address. */
static const guarded_range *find_guarded(const guarded_range *table, size_t length,
                                         const unsigned char *address)
{
    const guarded_range *found = NULL;
    for (const guarded_range *range = table; range < table + length; range++)
        if (range->base && address >= range->base && address < range->base + range->size &&
            (!found || range->size < found->size))
            found = range;
    return found;
}

static size_t append(char *line, size_t length, size_t capacity, const char *text)
{
    while (*text && length < capacity)
        line[length++] = *text++;
    return length;
}

static size_t append_hex(char *line, size_t length, size_t capacity, uintptr_t number)
{
    int shift = 60;
    while (shift > 0 && !(number >> shift & 15))
        shift -= 4;
    for (; shift >= 0 && length < capacity; shift -= 4)
        line[length++] = "0123456789abcdef"[number >> shift & 15];
    return length;
}

/* Runs in a signal handler: no lock and no stdio. A table that changes meanwhile costs the right
 * message. */
static void explain(const unsigned char *address)
{
    const guarded_range *range = find_guarded(guarded, MAX_GUARDED, address);
    if (!range)
        range = find_guarded(retired, MAX_RETIRED, address);
    if (!range)
        return;
    char line[256];
    size_t length = append(line, 0, sizeof(line), "grinterop software CUDA driver: access at 0x");
    length = append_hex(line, length, sizeof(line), (uintptr_t)address);
    length = append(line, length, sizeof(line), ", byte 0x");
    length = append_hex(line, length, sizeof(line), (uintptr_t)(address - range->base));
    length = append(line, length, sizeof(line), " of ");
    length = append(line, length, sizeof(line), range->what);
    length = append(line, length, sizeof(line), "\n");
    if (write(STDERR_FILENO, line, length) < 0)
        return;
}

/* Whoever handled faults before gets this one too. With the default action back in place, returning
 * runs the instruction again, and the process ends as it would have. */
static void on_fault(int number, siginfo_t *info, void *machine)
{
    explain(info->si_addr);
    const struct sigaction *before = number == SIGBUS ? &before_bus : &before_segv;
    if (before->sa_flags & SA_SIGINFO)
        before->sa_sigaction(number, info, machine);
    else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
        before->sa_handler(number);
    else
        sigaction(number, before, NULL);
}

static void install_handler(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &before_segv);
    sigaction(SIGBUS, &action, &before_bus);
}

/* ---- Pages ----------------------------------------------------------------------------------- */

void *soft_pages_new(size_t size, bool poison)
{
    size_t length = whole_pages(size);
    if (length < size || length + page_size() < length)
        return NULL;
    void *pages = mmap(NULL, length + page_size(), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    mprotect((unsigned char *)pages + length, page_size(), PROT_NONE);
    if (poison)
        memset(pages, SOFT_POISON, length);
    return pages;
}

void *soft_pages_map(int fd, size_t offset, size_t size)
{
    size_t lead = offset % page_size();
    size_t length = whole_pages(lead + size);
    unsigned char *pages = mmap(NULL, length + page_size(), PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    if (mmap(pages, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
             (off_t)(offset - lead)) == MAP_FAILED) {
        munmap(pages, length + page_size());
        return NULL;
    }
    return pages + lead;
}

/* The slot of exactly these pages, or MAX_GUARDED. */
static size_t find_exactly_locked(const void *pages, size_t length)
{
    size_t slot = 0;
    while (slot < MAX_GUARDED &&
           !(guarded[slot].base == (const unsigned char *)pages && guarded[slot].size == length))
        slot++;
    return slot;
}

static void forget_guarded_locked(const void *pages, size_t length)
{
    size_t slot = find_exactly_locked(pages, length);
    if (slot < MAX_GUARDED)
        guarded[slot].base = NULL;
}

void soft_pages_retire(void *pages, size_t size, const char *what)
{
    size_t lead = (uintptr_t)pages % page_size();
    size_t length = whole_pages(lead + size) + page_size();
    pages = (unsigned char *)pages - lead;
    pthread_once(&handler_once, install_handler);
    /* A new mapping over the old one gives the memory back and leaves the addresses taken. */
    if (mmap(pages, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
             0) == MAP_FAILED) {
        munmap(pages, length);
        return;
    }
    pthread_mutex_lock(&lock);
    forget_guarded_locked(pages, length - page_size());
    guarded_range evicted = retired[next_retired];
    retired[next_retired] = (guarded_range){pages, length, what};
    next_retired = (next_retired + 1) % MAX_RETIRED;
    pthread_mutex_unlock(&lock);
    if (evicted.base)
        munmap(evicted.base, evicted.size);
}

static CUresult guard(void *pages, size_t size, const char *what, int protection)
{
    pthread_once(&handler_once, install_handler);
    size_t length = whole_pages(size);
    pthread_mutex_lock(&lock);
    size_t slot = find_exactly_locked(pages, length);
    if (slot == MAX_GUARDED)
        for (slot = 0; slot < MAX_GUARDED && guarded[slot].base;)
            slot++;
    if (slot == MAX_GUARDED) /* the oldest loses its message, not its protection */
        slot = next_guarded++ % MAX_GUARDED;
    guarded[slot] = (guarded_range){pages, length, what};
    pthread_mutex_unlock(&lock);
    return mprotect(pages, length, protection) == 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
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
    pthread_mutex_lock(&lock);
    forget_guarded_locked(pages, whole_pages(size));
    pthread_mutex_unlock(&lock);
    int failed = mprotect(pages, whole_pages(size), PROT_READ | PROT_WRITE);
    return failed ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}
