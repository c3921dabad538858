/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the following driver has for a test: cuda_symbol("follower_api", 2000) gives a pointer to a
 * struct follower_api, once grinterop has loaded the driver.
 */
#ifndef GR_TESTS_FOLLOWER_DRIVER_H
#define GR_TESTS_FOLLOWER_DRIVER_H

#include <cuda.h>
#include <stddef.h>

/* A call about graphics resources as the driver got it. */
struct followed {
    const char *call;
    CUgraphicsResource resource; /* the first */
    unsigned count, flags, name, target;
    CUstream stream;
};

struct follower_api {
    /* Forgets the calls and what is registered, and answers success again. */
    void (*reset)(void);
    /* The call of this number, from 0, of all; NULL if there were fewer. */
    const struct followed *(*nth)(size_t number);
    /* What a function answers from now on, without doing anything; CUDA_SUCCESS takes it back. */
    void (*answer)(const char *call, CUresult code);
    /* How many resources are registered, and how many of them are mapped. */
    size_t (*registered)(void);
    size_t (*mapped)(void);
};

#endif
