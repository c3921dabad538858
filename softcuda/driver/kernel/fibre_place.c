/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Switches between stacks. makecontext() creates the first frame, where debuggers find the end of
 * the stack. swapcontext() makes two system calls for the signal mask, which all fibres of a thread
 * share. So _setjmp() and _longjmp() switch instead, in a tenth of the time. Sanitizers intercept
 * those two functions, so builds with sanitizers use swapcontext().
 */
/* The longjmp check of _FORTIFY_SOURCE would take a switch to another stack for an error. */
#undef _FORTIFY_SOURCE
#define _FORTIFY_SOURCE 0

#include "softcuda/driver/kernel/fibre_place.h"

#include <stdint.h>

#if SOFT_WITH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if SOFT_WITH_TSAN
#include <sanitizer/tsan_interface.h>
#endif

#if SOFT_WITH_ASAN || SOFT_WITH_TSAN
static void switch_stacks(soft_place *from, soft_place *to)
{
    swapcontext(&from->context, &to->context);
}
#else
static void switch_stacks(soft_place *from, soft_place *to)
{
    if (_setjmp(from->registers) != 0)
        return;
    if (to->has_begun)
        _longjmp(to->registers, 1);
    to->has_begun = true;
    setcontext(&to->context);
}
#endif

void soft_place_switch(soft_place *from, soft_place *to)
{
#if SOFT_WITH_ASAN
    void *fake_stack;
    __sanitizer_start_switch_fiber(&fake_stack, to->stack, to->stack_size);
#endif
#if SOFT_WITH_TSAN
    __tsan_switch_to_fiber(to->tsan, 0);
#endif
    switch_stacks(from, to);
#if SOFT_WITH_ASAN
    __sanitizer_finish_switch_fiber(fake_stack, NULL, NULL);
#endif
}

void soft_place_arrive(soft_place *from)
{
#if SOFT_WITH_ASAN
    const void *stack;
    __sanitizer_finish_switch_fiber(NULL, &stack, &from->stack_size);
    from->stack = (void *)(uintptr_t)stack;
#else
    (void)from;
#endif
}

void soft_place_here(soft_place *host)
{
    host->has_begun = true;
#if SOFT_WITH_TSAN
    host->tsan = __tsan_get_current_fiber();
#endif
}

/* The place arrives as two halves of a pointer, because makecontext() can only pass ints. */
static void begin(unsigned high, unsigned low)
{
    soft_place *place = (soft_place *)((uintptr_t)high << 32 | (uintptr_t)low);
    place->main(place->argument);
}

void soft_place_make(soft_place *place, void *stack, size_t size, void (*main)(void *argument),
                     void *argument)
{
    *place = (soft_place){.main = main, .argument = argument, .stack = stack, .stack_size = size};
#if SOFT_WITH_TSAN
    place->tsan = __tsan_create_fiber(0);
#endif
    getcontext(&place->context);
    place->context.uc_stack.ss_sp = stack;
    place->context.uc_stack.ss_size = size;
    place->context.uc_link = NULL;
    const uintptr_t self = (uintptr_t)place;
    makecontext(&place->context, (void (*)(void))begin, 2, (unsigned)(self >> 32), (unsigned)self);
}

void soft_place_end(const soft_place *place)
{
#if SOFT_WITH_ASAN
    __asan_unpoison_memory_region(place->stack, place->stack_size);
#endif
#if SOFT_WITH_TSAN
    __tsan_destroy_fiber(place->tsan);
#endif
    (void)place;
}
