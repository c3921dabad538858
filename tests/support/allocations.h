/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Checks whether a loop of grinterop calls allocates anything, and whether its memory grows.
 * Include this in one file of a program only: this header replaces malloc() and its relatives in
 * the program by functions that count the calls from grinterop's code and forward to the C library.
 */
#ifndef GR_TESTS_ALLOCATIONS_H
#define GR_TESTS_ALLOCATIONS_H

#include "support.h"

#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- Counting allocations -------------------------------------------------------------------- */

static unsigned long allocations;

/*
 * A sanitizer replaces malloc() itself and would not know of memory that these functions allocate.
 */
#ifndef SANITIZER

/* The address range of grinterop's code. While it is unset, nothing is counted. */
static uintptr_t code_start, code_end;

#define EXPORT __attribute__((visibility("default")))

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static inline void count_call(const void *caller)
{
    uintptr_t at = (uintptr_t)caller;
    if (at >= code_start && at < code_end)
        __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
}

EXPORT void *malloc(size_t size)
{
    count_call(__builtin_return_address(0));
    return __libc_malloc(size);
}

EXPORT void *calloc(size_t number, size_t size)
{
    count_call(__builtin_return_address(0));
    return __libc_calloc(number, size);
}

EXPORT void *realloc(void *memory, size_t size)
{
    count_call(__builtin_return_address(0));
    return __libc_realloc(memory, size);
}

/*
 * free() is not counted: if an OpenGL function ends in a jump to free(), the return address is in
 * grinterop's code.
 */
EXPORT void free(void *memory)
{
    __libc_free(memory);
}

EXPORT int posix_memalign(void **memory, size_t alignment, size_t size)
{
    count_call(__builtin_return_address(0));
    *memory = __libc_memalign(alignment, size);
    return *memory || size == 0 ? 0 : ENOMEM;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    count_call(__builtin_return_address(0));
    return __libc_memalign(alignment, size);
}

static inline int find_grinterop(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size, (void)user;
    const char *file = strrchr(info->dlpi_name, '/');
    if (strncmp(file ? file + 1 : info->dlpi_name, "libgrinterop.so", strlen("libgrinterop.so")) !=
        0)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD || !(info->dlpi_phdr[i].p_flags & PF_X))
            continue;
        code_start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        code_end = code_start + info->dlpi_phdr[i].p_memsz;
    }
    return 1;
}

/* False if libgrinterop.so is not loaded: only the calls of a shared library can be recognised. */
static inline bool start_counting(void)
{
    dl_iterate_phdr(find_grinterop, NULL);
    allocations = 0;
    return code_end != 0;
}

#else

static inline bool start_counting(void)
{
    return false;
}

#endif

#define need_counting()                                                                            \
    do {                                                                                           \
        if (sanitizer())                                                                           \
            skip("%s brings its own malloc()", sanitizer());                                       \
        if (!start_counting())                                                                     \
            skip("grinterop is linked statically: its calls can't be told from others");           \
    } while (0)

/*
 * Asserts that a cycle allocates nothing after the `first` ones, which may create what later ones
 * reuse. Call need_counting() before the resource is created: its allocations show that the count
 * works.
 */
static inline void assert_allocates_nothing(void (*cycle)(GLuint name), GLuint name, int first,
                                            int count)
{
    ck_assert_uint_gt(allocations, 0);
    for (int i = 0; i < first; i++)
        cycle(name);
    start_counting();
    for (int i = 0; i < count; i++)
        cycle(name);
    ck_assert_uint_eq(allocations, 0);
}

/* ---- Growth ---------------------------------------------------------------------------------- */

/*
 * The limit of memory growth in bytes per cycle. A leak of one small object per cycle exceeds it.
 * What the drivers allocate only once does not, since one round of five without it is enough. A
 * driver of a GPU may keep more, so that only large leaks show there.
 */
#define MOST_GROWTH        16
#define MOST_GROWTH_OF_GPU ((size_t)4 << 20)

/* The bytes that malloc() has given out and free() has not taken back, in the main thread. */
static inline size_t heap_in_use(void)
{
#if __GLIBC_PREREQ(2, 33)
    const struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
#else
    return 0;
#endif
}

static inline size_t device_memory(void)
{
    size_t free_bytes = 0, total = 0;
    CU(CtxSynchronize());
    CU(MemGetInfo(&free_bytes, &total));
    return free_bytes;
}

/* What `count` cycles allocate and do not free: file descriptors, host memory and device memory. */
struct growth {
    int fds;
    size_t host, device;
};

static inline struct growth measure_growth(void (*cycle)(GLuint name), GLuint name, int count)
{
    int fds = open_fds();
    size_t host_before = heap_in_use(), device_before = device_memory();
    for (int i = 0; i < count; i++)
        cycle(name);
    size_t host_after = heap_in_use(), device_after = device_memory();
    return (struct growth){
        .fds = open_fds() - fds,
        .host = host_after > host_before ? host_after - host_before : 0,
        .device = device_before > device_after ? device_before - device_after : 0,
    };
}

/*
 * The first tenth of the cycles fills free lists, caches and driver pools. These may also grow
 * later, in chunks of some MiB. A closed object may keep its descriptor until the stream has
 * finished. A leak, however, grows in every round, so the check passes if one of five rounds has no
 * growth.
 *
 * Only the software driver can report how much device memory this process uses. On a GPU other
 * processes allocate too.
 */
static inline void assert_steady(void (*cycle)(GLuint name), GLuint name, int count)
{
    for (int i = 0; i < count / 10; i++)
        cycle(name);
    const size_t limit = gr_cuda_is_software() ? (size_t)count * MOST_GROWTH : MOST_GROWTH_OF_GPU;
    struct growth more = {0};
    for (int round = 0; round < 5; round++) {
        more = measure_growth(cycle, name, count);
        if (sanitizer())
            more.host = 0; /* the sanitizer keeps freed memory */
        if (!gr_cuda_is_software())
            more.device = 0;
        if (more.fds <= 0 && more.host < limit && more.device < limit)
            return;
    }
    ck_assert_msg(more.fds <= 0, "%d more descriptors after %d cycles", more.fds, count);
    ck_assert_msg(more.host < limit, "%zu more bytes of the heap after %d cycles", more.host,
                  count);
    ck_assert_msg(more.device < limit, "%zu more bytes of the device after %d cycles", more.device,
                  count);
}

#endif
