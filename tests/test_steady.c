/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program that runs for days needs: a loop of map and release allocates nothing, and registering and
 * closing for ever needs no more file descriptors and no more memory.
 *
 * The program brings its own malloc() and the like. They count the calls that come from libgr's code, and
 * leave the work to the C library.
 */
#define _GNU_SOURCE
#include "support.h"

#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SIZE  4096
#define BATCH 32
#define LOOPS 1000

/* ---- Counting allocations -------------------------------------------------------------------- */

static unsigned long allocations;

/* A sanitizer brings its own, and would not know of memory that these hand out. */
#ifndef SANITIZER

/* Where libgr's code lies. Not set: nothing is counted. */
static uintptr_t code_start, code_end;

#define EXPORT __attribute__((visibility("default")))

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static void count(const void *caller)
{
    uintptr_t at = (uintptr_t)caller;
    if (at >= code_start && at < code_end)
        __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
}

EXPORT void *malloc(size_t size)
{
    count(__builtin_return_address(0));
    return __libc_malloc(size);
}

EXPORT void *calloc(size_t number, size_t size)
{
    count(__builtin_return_address(0));
    return __libc_calloc(number, size);
}

EXPORT void *realloc(void *memory, size_t size)
{
    count(__builtin_return_address(0));
    return __libc_realloc(memory, size);
}

EXPORT void free(void *memory)
{
    count(__builtin_return_address(0));
    __libc_free(memory);
}

EXPORT int posix_memalign(void **memory, size_t alignment, size_t size)
{
    count(__builtin_return_address(0));
    *memory = __libc_memalign(alignment, size);
    return *memory || size == 0 ? 0 : ENOMEM;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    count(__builtin_return_address(0));
    return __libc_memalign(alignment, size);
}

static int find_libgr(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size, (void)user;
    const char *file = strrchr(info->dlpi_name, '/');
    if (strncmp(file ? file + 1 : info->dlpi_name, "libgr.so", strlen("libgr.so")) != 0)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD || !(info->dlpi_phdr[i].p_flags & PF_X))
            continue;
        code_start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        code_end = code_start + info->dlpi_phdr[i].p_memsz;
    }
    return 1;
}

/* False if there is no libgr.so whose calls could be told from others. */
static bool start_counting(void)
{
    dl_iterate_phdr(find_libgr, NULL);
    allocations = 0;
    return code_end != 0;
}

#else

static bool start_counting(void)
{
    return false;
}

#endif

#define need_counting()                                                                            \
    do {                                                                                           \
        if (sanitizer() != NULL)                                                                   \
            skip("%s brings its own malloc()", sanitizer());                                       \
        if (!start_counting())                                                                     \
            skip("libgr is linked statically: its calls can't be told from others");               \
    } while (0)

START_TEST(registering_is_counted)
{
    need_counting();
    gr_resource *resource = must_register(gl_buffer_filled(SIZE, 1));
    ck_assert_uint_gt(allocations, 0);
    unsigned long before = allocations;
    gr_resource_free(resource);
    ck_assert_uint_gt(allocations, before);
}
END_TEST

START_TEST(map_and_release_allocate_nothing)
{
    GR_AUTO(gr_resource) *resource = must_register(gl_buffer_filled(SIZE, 1));
    need_counting();
    for (int i = 0; i < LOOPS; i++) {
        gr_buffer *buffer = must_map(resource);
        cuda_fill(buffer, i);
        assert_ok(gr_buffer_release(buffer));
    }
    ck_assert_uint_eq(allocations, 0);
}
END_TEST

/*
 * The release's stream waits for the map, though nothing was written: in NVIDIA's driver (580) a queue of
 * unmaps that overtake their maps never ends.
 */
START_TEST(release_on_another_stream_and_unmap_allocate_nothing)
{
    need_counting();
    GR_AUTO(gr_resource) *resource = must_register(gl_buffer_filled(SIZE, 1));
    gr_buffer *buffer = must_map(resource);
    assert_ok(gr_buffer_release_on(buffer, fx.other)); /* the first one makes the event it needs */
    start_counting();
    for (int i = 0; i < LOOPS; i++) {
        buffer = must_map(resource);
        assert_ok(gr_buffer_release_on(buffer, fx.other));
        buffer = must_map(resource);
        assert_ok(gr_unmap(resource, GR_STREAM_OF_MAP));
        assert_ok(gr_buffer_release(buffer));
    }
    ck_assert_uint_eq(allocations, 0);
}
END_TEST

START_TEST(map_many_and_release_many_allocate_nothing)
{
    need_counting();
    gr_resource *resources[BATCH];
    gr_buffer *buffers[BATCH];
    for (int i = 0; i < BATCH; i++)
        resources[i] = must_register(gl_buffer_filled(SIZE, 1));
    start_counting();
    for (int i = 0; i < LOOPS; i++) {
        assert_ok(gr_map_many(resources, BATCH, fx.stream, buffers));
        assert_ok(gr_buffer_release_many(buffers, BATCH, fx.stream));
    }
    ck_assert_uint_eq(allocations, 0);
    for (int i = 0; i < BATCH; i++)
        gr_resource_free(resources[i]);
}
END_TEST

START_TEST(a_map_that_is_refused_allocates_nothing)
{
    GR_AUTO(gr_resource) *resource = must_register(gl_buffer_filled(SIZE, 1));
    need_counting();
    gr_buffer *buffer = must_map(resource);
    for (int i = 0; i < LOOPS; i++)
        ck_assert_ptr_null(gr_map(resource, fx.stream));
    gr_clear_error();
    ck_assert_uint_eq(allocations, 0);
    assert_ok(gr_buffer_release(buffer));
}
END_TEST

/* ---- Descriptors and memory ------------------------------------------------------------------ */

/* Sanitizers make each cycle slower, and keep freed memory for a while. */
static int cycles(void)
{
    return sanitizer() != NULL ? 500 : 10000;
}

/* Less than what would be lost if each cycle lost a small object. */
#define MOST_GROWTH (1 << 20)

static size_t resident(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(file);
    unsigned long whole = 0, in_memory = 0;
    int fields = fscanf(file, "%lu %lu", &whole, &in_memory);
    fclose(file);
    ck_assert_int_eq(fields, 2);
    return in_memory * (size_t)sysconf(_SC_PAGESIZE);
}

static size_t device_memory(void)
{
    size_t free_bytes = 0, total = 0;
    CU(cuCtxSynchronize());
    CU(cuMemGetInfo(&free_bytes, &total));
    return free_bytes;
}

static void life(GLuint name)
{
    gr_resource *resource = must_register(name);
    gr_buffer *buffer = must_map(resource);
    cuda_fill(buffer, 1);
    assert_ok(gr_buffer_release(buffer));
    assert_ok(gr_close(resource, GR_STREAM_OF_MAP));
    gr_resource_free(resource);
}

static void chained_life(GLuint name)
{
    gr_buffer *buffer = gr_map_gl_buffer(name, GR_NONE, fx.stream);
    assert_made(buffer);
    cuda_fill(buffer, 2);
    assert_ok(gr_buffer_release(buffer));
}

/* The first tenth fills what is kept for re-use: free lists, caches, the drivers' pools. */
static void assert_steady(void (*cycle)(GLuint name), int count)
{
    GLuint name = gl_buffer_filled(SIZE, 0);
    for (int i = 0; i < count / 10; i++)
        cycle(name);
    int fds = open_fds();
    size_t host = resident(), device = device_memory();
    for (int i = 0; i < count; i++)
        cycle(name);
    ck_assert_int_eq(open_fds(), fds);
    size_t host_after = resident(), device_after = device_memory();
    if (sanitizer() == NULL)
        ck_assert_msg(host_after < host + MOST_GROWTH, "%zu more bytes resident after %d cycles",
                      host_after - host, count);
    ck_assert_msg(device < device_after + MOST_GROWTH, "%zu more bytes of the device after %d",
                  device - device_after, count);
}

START_TEST(register_map_release_close_for_ever_needs_nothing_more)
{
    assert_steady(life, cycles());
}
END_TEST

START_TEST(map_on_entry_for_ever_needs_nothing_more)
{
    assert_steady(chained_life, cycles() / 5);
}
END_TEST

static gr_resource *steady;

static void frame(GLuint name)
{
    (void)name;
    gr_buffer *buffer = must_map(steady);
    cuda_fill(buffer, 3);
    assert_ok(gr_buffer_release(buffer));
}

START_TEST(map_and_release_for_ever_need_nothing_more)
{
    steady = must_register(gl_buffer_filled(SIZE, 1));
    assert_steady(frame, cycles());
    gr_resource_free(steady);
}
END_TEST

static void build(Suite *suite)
{
    TCase *heap = add_case(suite, "heap");
    tcase_add_test(heap, registering_is_counted);
    tcase_add_test(heap, map_and_release_allocate_nothing);
    tcase_add_test(heap, release_on_another_stream_and_unmap_allocate_nothing);
    tcase_add_test(heap, map_many_and_release_many_allocate_nothing);
    tcase_add_test(heap, a_map_that_is_refused_allocates_nothing);

    TCase *cycle = add_case(suite, "cycles");
    tcase_add_test(cycle, register_map_release_close_for_ever_needs_nothing_more);
    tcase_add_test(cycle, map_on_entry_for_ever_needs_nothing_more);
    tcase_add_test(cycle, map_and_release_for_ever_need_nothing_more);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv, "steady", build, NULL);
}
