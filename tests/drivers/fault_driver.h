/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUDA driver that fails on demand, for tests: what fault_driver.so exports, and how a test
 * program gets at it (fault_control.c).
 */
#ifndef GR_TESTS_FAULT_DRIVER_H
#define GR_TESTS_FAULT_DRIVER_H

#include <stdbool.h>

struct CUstream_st;

/* What the shared object exports besides the driver's own look-up functions. */
struct fault_api {
    /*
     * Lets the next `after` calls of the driver's function pass and the one behind them return
     * `code`
     *        without reaching the driver. Code 0 takes that back. False if there is no such
     *        function.
     */
    bool (*set)(const char *name, int code, long after);
    /* How often the function was called, and how often the driver answered it with an error. */
    unsigned long (*calls)(const char *name);
    unsigned long (*refusals)(const char *name);
    /* The same for all functions together. */
    unsigned long (*all_refusals)(void);
    /* The context that was current at its last call: whose the default streams were. */
    struct CUctx_st *(*context)(const char *name);
    /* This stream captures a graph from now on, as far as cuStreamIsCapturing says; NULL: none. */
    void (*capture)(struct CUstream_st *stream);
    /* Takes back what was set and counts from 0 again. */
    void (*reset)(void);
};

/*
 * Makes grinterop load the failing driver, with the one that GR_CUDA_DRIVER named behind it: the
 * first call of main(). Ends the program with a message if the shared object is not beside the
 * program.
 */
void fault_control_start(void);

extern const struct fault_api *fault;

#endif
