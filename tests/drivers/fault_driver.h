/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A CUDA driver that fails on demand, for tests: the exports of fault_driver.so, and how a test
 * program accesses them (fault_control.c).
 */
#ifndef GR_TESTS_FAULT_DRIVER_H
#define GR_TESTS_FAULT_DRIVER_H

#include <stdbool.h>

struct CUstream_st;

/* Exports of the shared object besides the driver's look-up functions. */
struct fault_api {
    /*
     * Forwards the next `after` calls of the driver's function and makes the one after them return
     * `code` without calling the driver. Code 0 cancels that. False if there is no such function.
     */
    bool (*set)(const char *name, int code, long after);
    /* How often the function was called, and how often the driver returned an error for it. */
    unsigned long (*calls)(const char *name);
    unsigned long (*refusals)(const char *name);
    /* The same for all functions together. */
    unsigned long (*all_refusals)(void);
    /* The context that was current at its last call, to which default streams refer. */
    struct CUctx_st *(*context)(const char *name);
    /* Makes cuStreamIsCapturing report that this stream captures a graph; NULL: none does. */
    void (*capture)(struct CUstream_st *stream);
    /* Cancels all settings and resets the counts to 0. */
    void (*reset)(void);
};

/*
 * Makes grinterop load the failing driver in front of the one that GR_CUDA_DRIVER names. For
 * START(). Ends the program with a message if the shared object is missing.
 */
void fault_control_start(void);

extern const struct fault_api *fault;

#endif
