/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages for accesses that end the process: what a thread was doing, and what lies at the
 * address (object_at.h).
 */
#ifndef GR_SOFTCUDA_DRIVER_FAULT_H
#define GR_SOFTCUDA_DRIVER_FAULT_H

#include <stdbool.h>
#include <stddef.h>

/* What steps over the guard of a thread's own stack, a page. */
#define SOFT_LARGE_FRAME ((size_t)1024 * 1024)

/* A stack and the inaccessible bytes below it. */
typedef struct {
    const unsigned char *lowest; /* the last byte that can be used; NULL: not known */
    size_t size;
    size_t guard;
} soft_stack;

/* The dynamic shared memory of a block (shared_memory.c). */
typedef struct {
    const unsigned char *base; /* NULL: the thread has run no kernel yet */
    size_t size;
    const unsigned char *lowest; /* what belongs to it, its guards too */
    const unsigned char *end;
} soft_shared;

typedef struct {
    const char *kind; /* "kernel", "a copy", ...; NULL: nothing of the driver's */
    const char *name; /* of the kernel, or NULL */
    soft_stack stack; /* that the thread runs on */
    soft_shared shared;
} soft_work;

/* What this thread does. In the part of thread-local memory that is always there, since a signal
 * handler reads it. */
extern __attribute__((tls_model("initial-exec"))) _Thread_local soft_work soft_this_work;

/* Around what runs for an application. They do not nest. */
void soft_work_begin(const char *kind, const char *name);
void soft_work_end(void);

/*
 * For a thread that runs kernels, first and last: a stack of its own for signal handlers, as a
 * handler cannot run on a stack that is full. begin returns what end wants; NULL is fine.
 */
void *soft_fault_begin_thread(void);
void soft_fault_end_thread(void *signal_stack);

/* From the first call on, faults are explained. Whoever handled them before gets them too. */
void soft_fault_watch(void);

#endif
