/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Messages for accesses that end the process: what the thread was doing, and what is at the address
 * (object_at.h).
 */
#ifndef GR_SOFTCUDA_DRIVER_FAULT_H
#define GR_SOFTCUDA_DRIVER_FAULT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The size of a large stack frame. Such a frame can step over the one-page guard of a host thread's
 * stack.
 */
#define SOFT_LARGE_FRAME ((size_t)1024 * 1024)

/* A stack and the inaccessible bytes below it. */
typedef struct {
    const unsigned char *lowest; /* the lowest usable byte; NULL if unknown */
    size_t size;
    size_t guard;
} soft_stack;

/* The dynamic shared memory of a block (shared_memory.c). */
typedef struct {
    const unsigned char *base; /* NULL until the thread runs a kernel */
    size_t size;
    const unsigned char *lowest; /* the first byte of the lower guard */
    const unsigned char *end;
} soft_shared;

typedef struct {
    const char *kind; /* "kernel", "a copy", ...; NULL if the thread does no work of the driver */
    const char *name; /* the name of the kernel, or NULL */
    soft_stack stack; /* the stack of the thread */
    soft_shared shared;
} soft_work;

/* The work of this thread. The TLS model is initial-exec, because a signal handler reads it. */
extern __attribute__((tls_model("initial-exec"))) _Thread_local soft_work soft_this_work;

/*
 * Mark the beginning and the end of work that this thread does for the application. Such work is
 * not nested.
 */
void soft_work_begin(const char *kind, const char *name);
void soft_work_end(void);

/*
 * A thread that runs kernels calls these functions first and last. They give the signal handlers of
 * the thread their own stack, because a handler cannot run on a full stack. soft_fault_end_thread()
 * takes the result of soft_fault_begin_thread(); NULL is allowed.
 */
void *soft_fault_begin_thread(void);
void soft_fault_end_thread(void *signal_stack);

/*
 * True if this thread of the application can run kernels: its stack has as much room left as most
 * kernels need. The first call does the same as soft_fault_begin_thread() until the thread ends.
 */
bool soft_fault_can_run(void);

/* Enables fault messages. Handlers that were installed before still receive the faults. */
void soft_fault_watch(void);

#endif
