/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The stacks of fibres, and switching between them. */
#include "softcuda/driver/kernel/fibre.h"
#include "softcuda/driver/kernel/fault.h"
#include "softcuda/driver/soft.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The smallest stack of a thread. With sanitizers, stack frames are larger. */
#define LEAST_STACK ((size_t)(SOFT_WITH_ASAN || SOFT_WITH_TSAN ? 256 : 64) * 1024)

/*
 * The largest stack of a thread. Stacks for 1024 threads then take a 32nd of the process's address
 * space.
 */
#define MOST_STACK ((size_t)4 << 30)

/*
 * The value of the last word of a stack without a guard. A kernel that changes this word has
 * overflowed its stack. Guards are omitted if memory maps are scarce (soft.h).
 */
#define CANARY UINT64_C(0x6b63617473206e6f)

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

/* The distance between two stacks of the set. */
static size_t span_of(const soft_fibres *set)
{
    return SOFT_STACK_GUARD + set->stack_size;
}

/* Never returns: the fibre waits for the next block until its set of fibres is freed. */
static void fibre_main(void *fibre)
{
    soft_fibre *self = fibre;
    soft_fibres *set = self->set;
    soft_place_arrive(&set->host);
    for (;;) {
        set->kernel->run_thread(set->block, self->thread, set->params);
        self->state = SOFT_FIBRE_ENDED;
        soft_place_switch(&self->place, &set->host);
    }
}

static void free_set(void *set_of_fibres)
{
    soft_fibres *set = set_of_fibres;
    for (unsigned i = 0; set->all && i < set->count && set->all[i].set; i++)
        soft_place_end(&set->all[i].place);
    if (set->stacks) {
        munmap(set->stacks, (size_t)set->count * span_of(set));
        soft_guards_release(set->count);
    }
    free(set->all);
    free(set);
}

static void make_key(void)
{
    pthread_key_create(&key, free_set);
}

static void make_fibre(soft_fibres *set, unsigned index)
{
    soft_fibre *f = &set->all[index];
    unsigned char *stack = set->stacks + (size_t)index * span_of(set) + SOFT_STACK_GUARD;
    f->set = set;
    f->canary = (uint64_t *)(void *)stack;
    *f->canary = CANARY;
    soft_place_make(&f->place, stack, set->stack_size, fibre_main, f);
}

static bool open_stacks(const soft_fibres *set)
{
    for (unsigned char *guard = set->stacks, *end = guard + set->count * span_of(set); guard < end;
         guard += span_of(set))
        if (mprotect(guard + SOFT_STACK_GUARD, set->stack_size, PROT_READ | PROT_WRITE) != 0)
            return false;
    return true;
}

/*
 * Allocates the stacks. If memory maps are scarce, there are no guards, and all stacks share one
 * map. Huge pages are disabled for this map, because they would allocate memory for unused parts.
 */
static bool make_stacks(soft_fibres *set)
{
    size_t span = set->count * span_of(set);
    void *stacks =
        mmap(NULL, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stacks == MAP_FAILED)
        return false;
    set->stacks = stacks;
    set->guarded = soft_guards_reserve(set->count) && open_stacks(set);
    if (set->guarded)
        return true;
    madvise(stacks, span, MADV_NOHUGEPAGE);
    return mprotect(stacks, span, PROT_READ | PROT_WRITE) == 0;
}

static soft_fibres *new_set(unsigned count, size_t stack_size)
{
    soft_fibres *set = calloc(1, sizeof(*set));
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

/* Returns the stack size in whole pages; 0 if `wanted` is too large. */
static size_t stack_size_for(size_t wanted)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (wanted <= LEAST_STACK)
        return LEAST_STACK;
    return wanted <= MOST_STACK ? (wanted + page - 1) / page * page : 0;
}

/*
 * Returns the fibres of this thread: at least `count`, with stacks of at least `stack_size` bytes.
 */
static soft_fibres *get_set(unsigned count, size_t stack_size)
{
    pthread_once(&key_once, make_key);
    soft_fibres *set = pthread_getspecific(key);
    if (set && set->count >= count && set->stack_size >= stack_size)
        return set;
    if (set && set->count > count)
        count = set->count;
    if (set && stack_size && set->stack_size > stack_size)
        stack_size = set->stack_size;
    soft_fibres *larger = stack_size ? new_set(count, stack_size) : NULL;
    if (!larger || pthread_setspecific(key, larger) != 0) {
        if (larger)
            free_set(larger);
        return NULL;
    }
    if (set)
        free_set(set);
    return larger;
}

soft_fibres *soft_fibres_get(unsigned count, size_t stack)
{
    return get_set(count, stack_size_for(stack));
}

static void check_canary(const soft_fibre *f)
{
    if (*f->canary == CANARY)
        return;
    fprintf(stderr,
            "grinterop software CUDA driver: kernel %s needs more stack than the %zu bytes that a "
            "thread has: raise CU_LIMIT_STACK_SIZE by cuCtxSetLimit\n",
            f->set->kernel->name, f->set->stack_size);
    abort();
}

void soft_fibre_leave(soft_fibre *f)
{
    soft_place_switch(&f->place, &f->set->host);
}

void soft_fibre_enter(soft_fibre *f)
{
    soft_fibres *set = f->set;
    const soft_stack host = soft_this_work.stack;
    set->current = f;
    soft_this_work.stack =
        (soft_stack){f->place.stack, set->stack_size, set->guarded ? SOFT_STACK_GUARD : 0};
    soft_place_here(&set->host);
    soft_place_switch(&set->host, &f->place);
    soft_this_work.stack = host;
    set->current = NULL;
    check_canary(f);
}

void soft_fibre_stop(void)
{
    pthread_once(&key_once, make_key);
    soft_fibres *set = pthread_getspecific(key);
    if (!set || !set->current)
        return;
    set->current->state = SOFT_FIBRE_STOPPED;
    soft_fibre_leave(set->current);
}

void soft_fibres_drop(soft_fibres *set)
{
    pthread_setspecific(key, NULL);
    free_set(set);
}
