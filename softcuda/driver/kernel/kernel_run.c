/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The pool of threads that helps streams to run launches. The thread of a stream always takes part
 * itself, and only waits for helpers that are inside a block. So a launch finishes even if the pool
 * is busy or has no threads.
 */
#include "softcuda/driver/kernel/kernel_run.h"
#include "softcuda/driver/kernel/fault.h"
#include "softcuda/driver/image/image_object.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

/* About the time that it takes to wake the pool. */
#define ALONE_NANOSECONDS 5000

typedef struct job {
    struct job *next;
    const soft_grid *grid;
    uint64_t total;
    uint64_t chunk; /* the number of blocks that a thread claims at a time */
    _Atomic uint64_t taken;
    _Atomic bool failed;
    _Atomic bool stopped;
    unsigned helpers; /* threads inside run_blocks(); protected by the lock */
} job;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER; /* wakes the pool: there is a new job */
/* Wakes streams: a helper has left its job. */
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;
static pthread_once_t start_once = PTHREAD_ONCE_INIT;
static job *jobs;        /* jobs that may have blocks left */
static unsigned waiting; /* the number of streams that wait for `left` */
static unsigned pool_size;

/* Where this thread continues after its block was stopped. */
static _Thread_local jmp_buf *stop;

static gr_cuhost_block block_at(const soft_grid *grid, uint64_t number, void *shared)
{
    gr_cuhost_block block = {.kernel = grid->kernel->name,
                             .images = soft_images(),
                             .shared = shared,
                             .shared_size = grid->shared};
    for (int i = 0; i < 3; i++) {
        block.block_dim[i] = grid->block[i];
        block.grid_dim[i] = grid->grid[i];
        block.block_idx[i] = (unsigned)(number % grid->grid[i]);
        number /= grid->grid[i];
    }
    return block;
}

/*
 * Advances by `count` blocks within the row. There are no divisions, because they take as long as a
 * small block.
 */
static void advance(gr_cuhost_block *block, unsigned count)
{
    block->block_idx[0] += count;
    for (int i = 0; i < 2 && block->block_idx[i] == block->grid_dim[i]; i++) {
        block->block_idx[i] = 0;
        block->block_idx[i + 1]++;
    }
}

/* Runs as many blocks as one kernel call can run: at most one row. */
static unsigned run_some(const soft_grid *grid, gr_cuhost_block *block, uint64_t most, bool *good)
{
    if (grid->kernel->flags & GR_CUHOST_SYNC) {
        *good = soft_fibres_run(grid, block);
        return 1;
    }
    const unsigned row = block->grid_dim[0] - block->block_idx[0];
    const unsigned count = most < row ? (unsigned)most : row;
    grid->kernel->run_blocks(block, count, grid->params);
    return count;
}

/* False if a block could not be run. */
static bool run_chunk(const soft_grid *grid, uint64_t first, uint64_t end, void *shared)
{
    gr_cuhost_block block = block_at(grid, first, shared);
    bool all = true;
    while (first < end) {
        bool good = true;
        const unsigned count = run_some(grid, &block, end - first, &good);
        all = all && good;
        first += count;
        advance(&block, count);
    }
    return all;
}

static __attribute__((noinline)) void take_blocks(job *j, void *shared)
{
    for (;;) {
        uint64_t first = atomic_fetch_add_explicit(&j->taken, j->chunk, memory_order_relaxed);
        if (first >= j->total)
            break;
        uint64_t end = j->total - first > j->chunk ? first + j->chunk : j->total;
        if (!shared || !run_chunk(j->grid, first, end, shared))
            atomic_store(&j->failed, true);
    }
}

void soft_block_stop(void)
{
    _longjmp(*stop, 1);
}

static void run_blocks(job *j)
{
    jmp_buf here;
    stop = &here;
    soft_work_begin("kernel", j->grid->kernel->name);
    if (_setjmp(here) == 0) {
        take_blocks(j, soft_shared_get(j->grid->shared));
    } else {
        atomic_store(&j->stopped, true);
        atomic_store(&j->taken, j->total);
    }
    soft_work_end();
}

static CUresult result_of(job *j)
{
    SOFT_FAIL_IF(atomic_load(&j->stopped), CUDA_ERROR_ASSERT);
    return atomic_load(&j->failed) ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES : CUDA_SUCCESS;
}

static bool has_blocks(job *j)
{
    return atomic_load_explicit(&j->taken, memory_order_relaxed) < j->total;
}

/* Called without the lock, because the woken threads need the lock first. */
static void wake_streams(void)
{
    pthread_mutex_unlock(&lock);
    pthread_cond_broadcast(&left);
    pthread_mutex_lock(&lock);
}

static void *pool_thread_main(void *unused)
{
    (void)unused;
    soft_fault_begin_thread();
    pthread_mutex_lock(&lock);
    for (;;) {
        job *j = jobs;
        while (j && !has_blocks(j))
            j = j->next;
        if (!j) {
            pthread_cond_wait(&work, &lock);
            continue;
        }
        j->helpers++;
        pthread_mutex_unlock(&lock);
        run_blocks(j);
        pthread_mutex_lock(&lock);
        if (--j->helpers == 0 && waiting > 0)
            wake_streams();
    }
    return NULL;
}

/* The number of CPU cores that this process may use. */
static unsigned cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        return (unsigned)CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

/*
 * Starts the threads of the pool. They block all signals except those of faults, so that the
 * application's own threads handle the others.
 */
static void start_pool(void)
{
    sigset_t mask, before;
    sigfillset(&mask);
    const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
        sigdelset(&mask, faults[i]);
    pthread_sigmask(SIG_SETMASK, &mask, &before);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    for (unsigned n = cores(); n > 1; n--) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, pool_thread_main, NULL) != 0)
            break;
        pool_size++;
    }
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void remove_job(const job *j)
{
    job **at = &jobs;
    while (*at != j)
        at = &(*at)->next;
    *at = j->next;
}

/*
 * The number of blocks in a chunk. There are about eight chunks per thread: few enough for a low
 * overhead, and many enough for all threads to finish at about the same time. A chunk is whole rows
 * if there are enough rows, because one kernel call runs a row.
 */
static uint64_t chunk_of(const soft_grid *grid, uint64_t blocks)
{
    const uint64_t row = grid->grid[0];
    return blocks > row ? (blocks + row - 1) / row * row : blocks;
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/*
 * Runs the first blocks without the pool, in growing batches: all blocks, or as many as take longer
 * than waking the pool.
 */
static void run_alone(job *j, uint64_t total)
{
    const uint64_t end = now() + ALONE_NANOSECONDS;
    do {
        j->chunk = j->total + 1;
        atomic_store(&j->taken, j->total);
        j->total = total - j->total > j->chunk ? j->total + j->chunk : total;
        run_blocks(j);
    } while (j->total < total && !atomic_load(&j->stopped) && now() < end);
    atomic_store(&j->taken, atomic_load(&j->stopped) ? total : j->total);
}

static void run_with_pool(job *j)
{
    pthread_mutex_lock(&lock);
    j->next = jobs;
    jobs = j;
    pthread_mutex_unlock(&lock);
    pthread_cond_broadcast(&work); /* without the lock, because the helpers need it first */

    run_blocks(j);

    SOFT_LOCK(&lock);
    remove_job(j);
    waiting++;
    while (j->helpers > 0)
        pthread_cond_wait(&left, &lock);
    waiting--;
}

/* As many blocks as there are cores may wait for each other, so these start together. */
CUresult soft_grid_run(const soft_grid *grid)
{
    const uint64_t total = (uint64_t)grid->grid[0] * grid->grid[1] * grid->grid[2];
    job j = {.grid = grid};
    pthread_once(&start_once, start_pool);
    if (total == 1 || total > pool_size + 1)
        run_alone(&j, total);
    j.total = total;
    j.chunk = chunk_of(grid, total / (8 * (uint64_t)(pool_size + 1)) + 1);
    if (has_blocks(&j))
        run_with_pool(&j);
    return result_of(&j);
}
