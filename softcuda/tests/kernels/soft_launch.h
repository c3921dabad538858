/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Launches of the kernels in soft_kernels.cu, and checks that child processes crash, for the tests
 * of the software CUDA driver.
 */
#ifndef GR_TESTS_SOFT_LAUNCH_H
#define GR_TESTS_SOFT_LAUNCH_H

#include "softcuda/tests/reads.h"

#include "examples/support/kernel_image.h"

/* A test of behaviour that only the software driver has. */
#define SOFT_TEST(...)                                                                             \
    TEST_UNLESS(gr_cuda_is_software() ? NULL : "it tests the software CUDA driver", __VA_ARGS__)

/*
 * Adds a case whose fixture loads the kernels. A child that launches kernels must call
 * soft_kernels_load() first.
 */
TCase *add_soft_case(Suite *suite, const char *name);
void soft_kernels_load(void);

/* The compiled forms of soft_kernels.cu. */
const struct kernel_image *soft_kernels(void);

/* The extents of a launch. 0 means 1. */
struct extents {
    unsigned x, y, z;
};
void soft_launch(const char *name, struct extents grid, struct extents block, CUstream stream,
                 void **parameters);

/*
 * Like soft_launch(), with `shared` bytes of dynamic shared memory; soft_launch() allocates 4 bytes
 * per thread.
 */
void soft_launch_shared(const char *name, struct extents grid, struct extents block,
                        unsigned shared, CUstream stream, void **parameters);

/* Runs a kernel of one thread and waits for it. Returns the result of the stream. */
CUresult soft_run(const char *name, void **parameters);

/*
 * soft_memory() allocates device memory with these bytes. soft_bytes() waits for fx.stream and
 * returns a host copy of device memory, which the next call frees. soft_word() reads one word.
 */
CUdeviceptr soft_memory(const void *bytes, size_t size);
const void *soft_bytes(CUdeviceptr memory, size_t size);
unsigned soft_word(CUdeviceptr memory);

/* Runs a child that must die of a fault. Its output must contain both texts. */
void expect_death(const char *child, const char *text, const char *also);

/*
 * Runs a child that must return 0. Its output must contain both texts, the first text exactly once.
 */
void expect_message_once(const char *child, const char *text, const char *also);

/*
 * Define a child and its test: that it dies with this message, that it prints the message once, or
 * that it returns 0.
 */
#define DIES(title, text, also) IN_CHILD(dies_, title, expect_death(#title, text, also))
#define SAYS(title, text, also) IN_CHILD(says_, title, expect_message_once(#title, text, also))
#define PASSES(title)           IN_CHILD(passes_, title, expect_child(#title))
#define IN_CHILD(prefix, title, expectation)                                                       \
    SOFT_TEST(prefix##title)                                                                       \
    {                                                                                              \
        expectation;                                                                               \
    }                                                                                              \
    CHILD(title)

#endif
