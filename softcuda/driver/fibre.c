/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks whose threads meet at barriers. Each thread of the block is a fibre: a stack of its own on
 * one thread of the host. All run in turns, each until its next barrier or its end, so that after
 * one round every thread that still runs has reached the barrier, and the next round goes on behind
 * it. A host thread keeps its fibres for later blocks.
 */
#include "softcuda/driver/fault.h"
#include "softcuda/driver/kernel_run.h"
#include "softcuda/driver/module.h"
#include "softcuda/driver/soft.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__has_feature)
#define HAS_FEATURE(x) __has_feature(x)
#else
#define HAS_FEATURE(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer)
#define WITH_ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define WITH_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || HAS_FEATURE(thread_sanitizer)
#define WITH_TSAN 1
#include <sanitizer/tsan_interface.h>
#else
#define WITH_TSAN 0
#endif

/* What a thread has at least. The sanitizers' frames are larger. */
#define LEAST_STACK ((size_t)(WITH_ASAN || WITH_TSAN ? 256 : 64) * 1024)

/* Of 1024 threads, this much of the addresses that a process has: a 32nd. */
#define MOST_STACK ((size_t)4 << 30)

/* Inaccessible addresses below each stack: a frame larger than these would step over them. */
#define STACK_GUARD ((size_t)1024 * 1024)

/* At the far end of each stack, for those that have no guard because there are too many (soft.h): a
 * kernel that runs over it has used more stack than there is. */
#define CANARY UINT64_C(0x6b63617473206e6f)

struct fibres;

/* Where a switch goes to, or comes from. */
typedef struct {
    ucontext_t context;
    const void *stack;
    size_t stack_size;
    void *tsan;
} place;

typedef struct {
    place place;
    struct fibres *set;
    uint64_t *canary;
    unsigned thread[3];
    bool running; /* has begun its thread and not ended it */
} fibre;

typedef struct fibres {
    fibre *all;
    unsigned count;
    unsigned char *stacks; /* each above its guard */
    size_t stack_size;
    bool guarded;
    place host;
    fibre *current;
    const gr_cuhost_kernel *kernel;
    const gr_cuhost_block *block;
    void *const *params;
    int votes;  /* of this round */
    int result; /* of the round before */
} fibres;

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

/* From one stack to the next. */
static size_t span_of(const fibres *set)
{
    return STACK_GUARD + set->stack_size;
}

static void switch_to(place *from, place *to)
{
#if WITH_ASAN
    void *fake_stack;
    __sanitizer_start_switch_fiber(&fake_stack, to->stack, to->stack_size);
#endif
#if WITH_TSAN
    __tsan_switch_to_fiber(to->tsan, 0);
#endif
    swapcontext(&from->context, &to->context);
#if WITH_ASAN
    __sanitizer_finish_switch_fiber(fake_stack, NULL, NULL);
#endif
}

/* A fibre never ends: it waits for the next block, and its stack is freed with the set. */
static void fibre_main(unsigned high, unsigned low)
{
    fibre *self = (fibre *)((uintptr_t)high << 32 | (uintptr_t)low);
    fibres *set = self->set;
#if WITH_ASAN
    __sanitizer_finish_switch_fiber(NULL, &set->host.stack, &set->host.stack_size);
#endif
    for (;;) {
        set->kernel->run_thread(set->block, self->thread, set->params);
        self->running = false;
        switch_to(&self->place, &set->host);
    }
}

static int barrier(void *set_of_fibres, int predicate)
{
    fibres *set = set_of_fibres;
    set->votes += predicate != 0;
    switch_to(&set->current->place, &set->host);
    return set->result;
}

static void free_set(void *set_of_fibres)
{
    fibres *set = set_of_fibres;
    for (unsigned i = 0; set->all && i < set->count && set->all[i].set; i++) {
#if WITH_ASAN
        __asan_unpoison_memory_region(set->all[i].place.stack, set->stack_size);
#endif
#if WITH_TSAN
        __tsan_destroy_fiber(set->all[i].place.tsan);
#endif
    }
    if (set->stacks) {
        munmap(set->stacks, (size_t)set->count * span_of(set));
        soft_guards_unbook(set->count);
    }
    free(set->all);
    free(set);
}

static void make_key(void)
{
    pthread_key_create(&key, free_set);
}

static void make_fibre(fibres *set, unsigned index)
{
    fibre *f = &set->all[index];
    unsigned char *stack = set->stacks + (size_t)index * span_of(set) + STACK_GUARD;
    f->set = set;
    f->canary = (uint64_t *)(void *)stack;
    *f->canary = CANARY;
    f->place.stack = stack;
    f->place.stack_size = set->stack_size;
#if WITH_TSAN
    f->place.tsan = __tsan_create_fiber(0);
#endif
    getcontext(&f->place.context);
    f->place.context.uc_stack.ss_sp = stack;
    f->place.context.uc_stack.ss_size = set->stack_size;
    f->place.context.uc_link = NULL;
    uintptr_t self = (uintptr_t)f;
    makecontext(&f->place.context, (void (*)(void))fibre_main, 2, (unsigned)(self >> 32),
                (unsigned)self);
}

static bool open_stacks(const fibres *set)
{
    for (unsigned char *guard = set->stacks, *end = guard + set->count * span_of(set); guard < end;
         guard += span_of(set))
        if (mprotect(guard + STACK_GUARD, set->stack_size, PROT_READ | PROT_WRITE) != 0)
            return false;
    return true;
}

/* Without guards if memory maps are scarce: it is then one for all stacks, with no huge pages,
 * which would fill the guards with memory. */
static bool make_stacks(fibres *set)
{
    size_t span = set->count * span_of(set);
    void *stacks =
        mmap(NULL, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stacks == MAP_FAILED)
        return false;
    set->stacks = stacks;
    set->guarded = soft_guards_book(set->count) && open_stacks(set);
    if (set->guarded)
        return true;
    madvise(stacks, span, MADV_NOHUGEPAGE);
    return mprotect(stacks, span, PROT_READ | PROT_WRITE) == 0;
}

static fibres *new_set(unsigned count, size_t stack_size)
{
    fibres *set = calloc(1, sizeof(*set));
    if (!set)
        return NULL;
    set->count = count;
    set->stack_size = stack_size;
    set->all = calloc(count, sizeof(*set->all));
    if (!set->all || !make_stacks(set)) {
        free_set(set);
        return NULL;
    }
    for (unsigned i = 0; i < count; i++)
        make_fibre(set, i);
    return set;
}

/* Whole pages; 0: more than there can be. */
static size_t stack_size_for(size_t wanted)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (wanted <= LEAST_STACK)
        return LEAST_STACK;
    return wanted <= MOST_STACK ? (wanted + page - 1) / page * page : 0;
}

/* This thread's fibres, count or more of them, with stacks as large or larger. */
static fibres *get_set(unsigned count, size_t stack_size)
{
    pthread_once(&key_once, make_key);
    fibres *set = pthread_getspecific(key);
    if (set && set->count >= count && set->stack_size >= stack_size)
        return set;
    if (set && set->count > count)
        count = set->count;
    if (set && stack_size && set->stack_size > stack_size)
        stack_size = set->stack_size;
    fibres *larger = stack_size ? new_set(count, stack_size) : NULL;
    if (!larger || pthread_setspecific(key, larger) != 0) {
        if (larger)
            free_set(larger);
        return NULL;
    }
    if (set)
        free_set(set);
    return larger;
}

static void check_canary(const fibre *f)
{
    if (*f->canary == CANARY)
        return;
    fprintf(stderr,
            "grinterop software CUDA driver: kernel %s needs more stack than the %zu bytes that a "
            "thread has: raise CU_LIMIT_STACK_SIZE by cuCtxSetLimit\n",
            f->set->kernel->name, f->set->stack_size);
    abort();
}

/* One round; returns how many threads have not ended. */
static unsigned run_round(fibres *set, unsigned count)
{
    unsigned running = 0;
    const soft_stack host = soft_this_work.stack;
    for (unsigned i = 0; i < count; i++) {
        fibre *f = &set->all[i];
        if (!f->running)
            continue;
        set->current = f;
        soft_this_work.stack =
            (soft_stack){f->place.stack, set->stack_size, set->guarded ? STACK_GUARD : 0};
        switch_to(&set->host, &f->place);
        soft_this_work.stack = host;
        check_canary(f);
        running += f->running;
    }
    return running;
}

bool soft_fibres_run(const soft_grid *grid, gr_cuhost_block *block)
{
    const unsigned *dim = block->block_dim;
    unsigned count = dim[0] * dim[1] * dim[2];
    fibres *set = get_set(count, stack_size_for(grid->stack));
    if (!set)
        return false;
    block->barrier = barrier;
    block->fibre = set;
    set->kernel = grid->kernel;
    set->block = block;
    set->params = grid->params;
#if WITH_TSAN
    set->host.tsan = __tsan_get_current_fiber();
#endif
    for (unsigned i = 0; i < count; i++) {
        fibre *f = &set->all[i];
        f->thread[0] = i % dim[0];
        f->thread[1] = i / dim[0] % dim[1];
        f->thread[2] = i / dim[0] / dim[1];
        f->running = true;
    }
    do {
        set->votes = 0;
        unsigned running = run_round(set, count);
        set->result = set->votes;
        if (running == 0)
            break;
    } while (true);
    return true;
}
