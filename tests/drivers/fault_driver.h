/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A CUDA driver that fails on demand, for tests: the exports of fault_driver.so, and how a test
 * program accesses them (fault_control.c).
 */
#ifndef GR_TESTS_FAULT_DRIVER_H
#define GR_TESTS_FAULT_DRIVER_H

#include <stdbool.h>

/* The exports of the shared object, besides the look-up functions of a driver. */
struct fault_api {
    /*
     * Forwards the next `after` calls of the function to the driver and makes the call after them
     * return `code` without calling the driver. Code 0 cancels that. Returns false if there is no
     * such function.
     */
    bool (*set)(const char *name, int code, long after);
    /* The functions that can fail, one for each number from 0 on; then NULL. */
    const char *(*name)(unsigned number);
    /*
     * The number of calls of the function, and of the calls for which the driver returned an error.
     */
    unsigned long (*calls)(const char *name);
    unsigned long (*refusals)(const char *name);
    /*
     * The number of errors that the driver returned, for all functions together, and the function
     * that returned the last one. CUDA_ERROR_NOT_READY is no error.
     */
    unsigned long (*all_refusals)(void);
    const char *(*last_refusal)(void);
    /*
     * The context that was current at the last call of the function. Default streams belong to it.
     */
    struct CUctx_st *(*context)(const char *name);
    /* Makes the driver report the array of the next layer for each layer of a mapped image. */
    void (*give_other_arrays)(bool other);
    /* Makes the driver report the host as the location of all memory of cuMemCreate(). */
    void (*give_host_memory)(bool host);
    /* Cancels all settings and resets the counts to 0. */
    void (*reset)(void);
};

/*
 * Makes grinterop load the failing driver, with the driver that GR_CUDA_DRIVER names as its target.
 * For START(). Ends the program with a message if the shared object is missing.
 */
void fault_control_start(void);

extern const struct fault_api *fault;

#endif
