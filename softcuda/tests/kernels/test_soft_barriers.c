/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Kernels with block barriers (GR_KERNEL_SYNC) on the software CUDA driver. */
#define _GNU_SOURCE
#include "tests/support/child_check.h"
#include "soft_launch.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The grid and block extents of one launch. */
struct shape {
    struct extents grid, block;
};

static const struct shape shapes[] = {
    {{.x = 1}, {.x = 1}},
    {{.x = 1}, {.x = 32}},
    {{.x = 3}, {.x = 33}},
    {{.x = 2}, {.x = 1024}},
    {{.x = 7}, {.x = 255}},
    {{.x = 2, .y = 3}, {.x = 16, .y = 5}},
    {{.x = 2, .y = 2, .z = 2}, {.x = 5, .y = 7, .z = 3}},
    {{.x = 64}, {.x = 2}},
};

static unsigned volume(struct extents e)
{
    return (e.x ? e.x : 1) * (e.y ? e.y : 1) * (e.z ? e.z : 1);
}

static void launch(const char *name, const struct shape *shape, CUstream stream, void **parameters)
{
    soft_launch(name, shape->grid, shape->block, stream, parameters);
}

/* Returns a different number for each index. */
static unsigned number_at(unsigned i)
{
    return (i + 1) * 2654435761u;
}

static CUdeviceptr numbers(unsigned count)
{
    unsigned *values = malloc(count * sizeof(*values));
    ck_assert(values);
    for (unsigned i = 0; i < count; i++)
        values[i] = number_at(i);
    CUdeviceptr memory = soft_memory(values, count * sizeof(*values));
    free(values);
    return memory;
}

static void assert_number(const unsigned *values, unsigned i, unsigned wanted)
{
    ck_assert_msg(values[i] == wanted, "number %u is %u, expected %u", i, values[i], wanted);
}

GROUP("barriers", add_soft_case)

SOFT_TEST(block_sums_by_barriers_are_correct, sizeof(shapes) / sizeof(*shapes))
{
    const struct shape *shape = &shapes[_i];
    unsigned blocks = volume(shape->grid), threads = volume(shape->block);
    CUdeviceptr in = numbers(blocks * threads), out = numbers(blocks);
    launch("block_sum", shape, fx.stream, (void *[]){&in, &out});
    const unsigned *sums = soft_bytes(out, blocks * sizeof(*sums));
    for (unsigned b = 0; b < blocks; b++) {
        unsigned sum = 0;
        for (unsigned i = 0; i < threads; i++)
            sum += number_at(b * threads + i);
        assert_number(sums, b, sum);
    }
}

static void assert_rotated(CUdeviceptr memory, const struct shape *shape, unsigned rounds)
{
    unsigned blocks = volume(shape->grid), threads = volume(shape->block);
    const unsigned *values = soft_bytes(memory, blocks * threads * sizeof(*values));
    for (unsigned i = 0; i < blocks * threads; i++) {
        unsigned block = i / threads, from = (i % threads + threads - rounds % threads) % threads;
        assert_number(values, i, number_at(block * threads + from));
    }
}

SOFT_TEST(barriers_in_a_loop_separate_its_rounds, sizeof(shapes) / sizeof(*shapes))
{
    const struct shape *shape = &shapes[_i];
    unsigned rounds = 37;
    CUdeviceptr values = numbers(volume(shape->grid) * volume(shape->block));
    launch("rotate", shape, fx.stream, (void *[]){&values, &rounds});
    assert_rotated(values, shape, rounds);
}

SOFT_TEST(threads_keep_their_indices_across_barriers, sizeof(shapes) / sizeof(*shapes))
{
    const struct shape *shape = &shapes[_i];
    unsigned x = shape->block.x, y = shape->block.y ? shape->block.y : 1;
    unsigned gx = shape->grid.x, gy = shape->grid.y ? shape->grid.y : 1;
    unsigned threads = volume(shape->block), count = volume(shape->grid) * threads;
    CUdeviceptr out = numbers(9 * count);
    launch("who", shape, fx.stream, (void *[]){&out});
    const unsigned *seen = soft_bytes(out, 9 * count * sizeof(*seen));
    for (unsigned i = 0; i < count; i++) {
        unsigned t = i % threads, b = i / threads;
        const unsigned wanted[9] = {t % x,     t / x % y, t / x / y,   t % x,      t / x % y,
                                    t / x / y, b % gx,    b / gx % gy, b / gx / gy};
        ck_assert_mem_eq(seen + 9 * (size_t)i, wanted, sizeof(wanted));
    }
}

/* ---- Participating threads ------------------------------------------------------------------- */

/* A barrier waits only for threads that are still running, and counts only their predicates. */
SOFT_TEST(barrier_ignores_threads_that_have_exited, 4)
{
    enum { THREADS = 100 };
    unsigned stay = _i == 0 ? THREADS : (unsigned)_i;
    CUdeviceptr memory = numbers(THREADS);
    soft_launch("leave", (struct extents){.x = 1}, (struct extents){.x = THREADS}, fx.stream,
                (void *[]){&memory, &stay});
    const unsigned *counts = soft_bytes(memory, THREADS * sizeof(*counts));
    /* At the last barrier of thread i, the threads from i to stay - 1 are still running. */
    for (unsigned i = 0; i < THREADS; i++)
        assert_number(counts, i, i < stay ? stay - i : number_at(i));
}

SOFT_TEST(block_votes_count_predicates, sizeof(shapes) / sizeof(*shapes))
{
    unsigned threads = volume(shapes[_i].block);
    struct shape shape = {.grid = {.x = 1}, .block = shapes[_i].block};
    CUdeviceptr memory = numbers(5 * threads);
    launch("vote", &shape, fx.stream, (void *[]){&memory, &threads});
    const int *results = soft_bytes(memory, 5 * threads * sizeof(*results));
    const int wanted[5] = {(int)threads / 2, 1, 0, 1, 0};
    for (unsigned i = 0; i < threads; i++)
        ck_assert_mem_eq(results + 5 * (size_t)i, wanted, sizeof(wanted));
}

/* ---- Several launches ------------------------------------------------------------------------ */

/* The value that thread `me` of the kernel contributes; 0 if there is no such thread. */
static unsigned contributed(unsigned me, unsigned threads)
{
    return me < threads ? me * me + 1 : 0;
}

/* The lanes in the warp of `me` that are threads of the block and have this remainder. */
static unsigned lanes_with(unsigned me, unsigned threads, unsigned divisor, unsigned remainder)
{
    unsigned set = 0, first = me / 32 * 32;
    for (unsigned lane = 0; lane < 32; lane++)
        if (first + lane < threads && (first + lane) % divisor == remainder)
            set |= 1u << lane;
    return set;
}

static void assert_warps(const unsigned *got, unsigned me, unsigned threads)
{
    const unsigned first = me / 32 * 32, last = threads - first < 32 ? threads - 1 : first + 31;
    const unsigned wanted[] = {
        contributed(first + 3, threads),
        contributed(me % 8 == 0 ? me : me - 1, threads),
        contributed(me % 32 < 30 ? me + 2 : me, threads),
        contributed(first + ((me - first) ^ 5), threads),
        lanes_with(me, threads, 3, 0),
        (first == 0 && threads > 5 ? 1u : 0u) + (last < 40 ? 2u : 0u),
        lanes_with(me, threads, 4, me % 4),
        me % 2 == 1 ? contributed(first + ((me - first) ^ 2), threads)
                    : lanes_with(me, threads, 2, 0),
    };
    for (unsigned i = 0; i < 8; i++)
        ck_assert_msg(got[i] == wanted[i],
                      "with %u threads, thread %u has 0x%x at %u, expected 0x%x", threads, me,
                      got[i], i, wanted[i]);
}

SOFT_TEST(warp_lanes_exchange_values, sizeof(shapes) / sizeof(*shapes))
{
    const struct shape *shape = &shapes[_i];
    const unsigned blocks = volume(shape->grid), threads = volume(shape->block);
    CUdeviceptr memory = numbers(8 * blocks * threads);
    launch("warps", shape, fx.stream, (void *[]){&memory});
    const unsigned *got = soft_bytes(memory, 8 * sizeof(*got) * blocks * threads);
    for (unsigned i = 0; i < blocks * threads; i++)
        assert_warps(got + 8 * i, i % threads, threads);
}

GROUP("launches", add_soft_case)

/*
 * A block that is larger than all previous blocks gets new stacks, which later smaller blocks
 * reuse.
 */
SOFT_TEST(blocks_of_all_sizes_run_in_sequence)
{
    static const unsigned sizes[] = {1, 700, 3, 1024, 64, 1024, 1};
    unsigned rounds = 3;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        const struct shape shape = {{.x = 5}, {.x = sizes[i]}};
        CUdeviceptr values = numbers(5 * sizes[i]);
        launch("rotate", &shape, fx.stream, (void *[]){&values, &rounds});
        assert_rotated(values, &shape, rounds);
    }
}

SOFT_TEST(two_launches_with_barriers_run_at_once)
{
    const struct shape first = {{.x = 9}, {.x = 200}}, second = {{.x = 8}, {.x = 333}};
    unsigned rounds = 5, other_rounds = 7;
    CUdeviceptr one = numbers(9 * 200), two = numbers(8 * 333);
    struct gate *gates[2] = {gate_put(fx.stream), gate_put(fx.other)};
    for (int i = 0; i < 4; i++) {
        launch("rotate", &first, fx.stream, (void *[]){&one, &rounds});
        launch("rotate", &second, fx.other, (void *[]){&two, &other_rounds});
    }
    gate_open(gates[0]);
    gate_open(gates[1]);
    CU(StreamSynchronize(fx.stream));
    CU(StreamSynchronize(fx.other));
    assert_rotated(one, &first, 4 * rounds);
    assert_rotated(two, &second, 4 * other_rounds);
}

GROUP("what is refused", add_soft_case)

CHILD(unregistered_barrier)
{
    unsigned zero = 0;
    fixture_setup();
    soft_kernels_load();
    CUdeviceptr memory = soft_memory(&zero, sizeof(zero));
    soft_run("barrier_undeclared", (void *[]){&memory});
    return 0;
}

SOFT_TEST(barrier_without_registration_is_reported)
{
    char said[8192];
    int status = child_run("unregistered_barrier", said, sizeof(said));
    ck_assert_msg(sanitizer() ? status != 0 : WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT,
                  "the child ended with status 0x%x: %.3500s", (unsigned)status, said);
    ck_assert_msg(strstr(said, "kernel barrier_undeclared has a barrier: register it with "
                               "GR_KERNEL_SYNC(barrier_undeclared)"),
                  "the child printed: %s", said);
}

static size_t address_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    child_check(file && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/*
 * The thread of the stream already runs, and the address space has no room for the stacks of 1024
 * threads.
 */
CHILD(no_memory_for_stacks)
{
    const struct shape small = {{.x = 1}, {.x = 2}}, large = {{.x = 1}, {.x = 1024}};
    unsigned rounds = 1;
    fixture_setup();
    soft_kernels_load();
    CUdeviceptr values = numbers(1024);
    launch("rotate", &small, fx.stream, (void *[]){&values, &rounds});
    assert_rotated(values, &small, rounds);

    struct rlimit limit;
    child_check(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = address_space() + ((size_t)32 << 20);
    child_check(setrlimit(RLIMIT_AS, &limit) == 0);
    launch("rotate", &large, fx.stream, (void *[]){&values, &rounds});
    CU_GIVES(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, StreamSynchronize(fx.stream));
    return 0;
}

SOFT_TEST(launch_fails_without_memory_for_stacks)
{
    if (sanitizer())
        skip("a sanitizer needs more address space than the limit leaves");
    if (getenv("GR_TEST_EMULATOR"))
        skip("an emulator does not support address space limits");
    expect_child("no_memory_for_stacks");
}

GROUP("what takes long", add_soft_case)

static void *set_later(void *word)
{
    usleep(2500 * 1000); /* the patience counts whole seconds */
    __atomic_store_n((unsigned *)word, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* Makes one wrong launch after the other. round_each() has four parameters. */
CHILD(launch_wrongly)
{
    CUfunction function = NULL;
    CUdeviceptr out = 0;
    float value = 1;
    void *good[] = {&out, &value, &value, &value}, *by_value[] = {&out, (void *)5, &value, &value};
    fixture_setup();
    CUmodule module = NULL;
    child_check(kernel_image_load(soft_kernels(), &module));
    CU_GIVES(CUDA_ERROR_NOT_FOUND, ModuleGetFunction(&function, module, "no_such_kernel"));
    CU(ModuleGetFunction(&function, module, "round_each"));
    const struct {
        unsigned blocks, threads;
        void **parameters;
    } wrong[] = {{0, 1, good}, {1, 2000, good}, {1, 1, NULL}, {1, 1, by_value}};
    for (int i = 0; i < 4; i++)
        CU_GIVES(CUDA_ERROR_INVALID_VALUE,
                 LaunchKernel(function, wrong[i].blocks, 1, 1, wrong[i].threads, 1, 1, 0, fx.stream,
                              wrong[i].parameters, NULL));
    CU(CtxSetCurrent(NULL));
    CU_GIVES(CUDA_ERROR_INVALID_CONTEXT, MemAlloc(&out, 16));
    CU(CtxSetCurrent(fx.context));
    fixture_teardown();
    return 0;
}

SOFT_TEST(wrong_launches_are_explained, 6)
{
    static const char *const lines[] = {
        "no kernel no_such_kernel: declare it extern \"C\"",
        "with 0 x 1 x 1 blocks",
        "of 2000 x 1 x 1 threads",
        "round_each has 4 parameters, but kernelParams is NULL",
        "kernelParams[1] of kernel round_each is 0x5: pass the address",
        "needs a CUDA context, but none is current",
    };
    expect_message_once("launch_wrongly", lines[_i], lines[_i]);
}

static void begin_impatiently(void)
{
    setenv("GR_SOFT_PATIENCE", "1", 1);
    fixture_setup();
    soft_kernels_load();
}

/* Launches a kernel for each word, which waits until the thread sets the word. */
static void wait_for_words(unsigned count, void *(*set)(void *))
{
    unsigned *words = NULL;
    pthread_t thread;
    CU(MemAllocHost((void **)&words, count * sizeof(*words)));
    memset(words, 0, count * sizeof(*words));
    child_check(pthread_create(&thread, NULL, set, words) == 0);
    for (unsigned *word = words; word < words + count; word++)
        soft_launch("wait_until", (struct extents){.x = 2}, (struct extents){.x = 1}, fx.stream,
                    (void *[]){&word});
    CU(StreamSynchronize(fx.stream));
    child_check(words[count - 1] == 1);
    pthread_join(thread, NULL);
}

/*
 * The kernel runs for more than twice the GR_SOFT_PATIENCE. Catches: a kernel whose blocks
 * waited for each other hung without a message.
 */
SAYS(long_launches, "driver: kernel", "driver: kernel wait_until has run for 1 seconds: it never ")
{
    begin_impatiently();
    wait_for_words(1, set_later);
    return 0;
}

static uint64_t longest; /* time between two words */

/* The first second ends during the second kernel. */
static void *set_each(void *words)
{
    static const useconds_t times[] = {500 * 1000, 750 * 1000, 0};
    for (int i = 0; i < 3; i++) {
        const uint64_t begin = monotonic_ns();
        usleep(times[i]);
        __atomic_store_n((unsigned *)words + i, 1, __ATOMIC_RELEASE);
        longest = monotonic_ns() - begin > longest ? monotonic_ns() - begin : longest;
    }
    return NULL;
}

/*
 * Each kernel is shorter than the GR_SOFT_PATIENCE, unless the machine is busy, but all together
 * are longer. Catches: the time of earlier launches that a waiting thread ran counted for the last
 * one.
 */
PASSES(short_launches)
{
    begin_impatiently();
    FILE *log = tmpfile();
    child_check(log && dup2(fileno(log), STDERR_FILENO) == STDERR_FILENO);
    wait_for_words(3, set_each);
    child_check(lseek(STDERR_FILENO, 0, SEEK_END) == 0 || longest > 900 * 1000 * 1000);
    return 0;
}
