/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Stacks that one host thread switches between. */
#ifndef GR_SOFTCUDA_DRIVER_FIBRE_PLACE_H
#define GR_SOFTCUDA_DRIVER_FIBRE_PLACE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <ucontext.h>

/* A stack that can be the source or the target of a switch. */
typedef struct {
    ucontext_t context; /* where the place starts */
    jmp_buf registers;  /* where the place was left */
    bool has_begun;
    void (*main)(void *argument);
    void *argument;
    void *stack;
    size_t stack_size;
    void *tsan;
} soft_place;

/*
 * Creates a place on the given stack. The first switch to the place starts main(argument) on that
 * stack. main() must not return. (fibre_place.c)
 */
void soft_place_make(soft_place *place, void *stack, size_t size, void (*main)(void *argument),
                     void *argument);

/* Sets `host` to the thread's own stack, from which the thread will switch. (fibre_place.c) */
void soft_place_here(soft_place *host);

/* Must be called first by main(); `from` is the source of the first switch. (fibre_place.c) */
void soft_place_arrive(soft_place *from);

/* Switches to a place; returns when something switches back. (fibre_place.c) */
void soft_place_switch(soft_place *from, soft_place *to);

/* Ends a place. Must be called before its stack is freed. (fibre_place.c) */
void soft_place_end(const soft_place *place);

/* Whether sanitizers are used: their stack frames are larger. */
#if defined(__has_feature)
#define SOFT_HAS_FEATURE(x) __has_feature(x)
#else
#define SOFT_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || SOFT_HAS_FEATURE(address_sanitizer)
#define SOFT_WITH_ASAN 1
#else
#define SOFT_WITH_ASAN 0
#endif
#if defined(__SANITIZE_THREAD__) || SOFT_HAS_FEATURE(thread_sanitizer)
#define SOFT_WITH_TSAN 1
#else
#define SOFT_WITH_TSAN 0
#endif

#endif
