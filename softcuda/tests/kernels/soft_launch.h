/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of soft_kernels.cu, and deaths, for the tests of the software CUDA driver. */
#ifndef GR_TESTS_SOFT_LAUNCH_H
#define GR_TESTS_SOFT_LAUNCH_H

#include "tests/support/support.h"

#include "examples/support/kernel_image.h"

#define need_software()                                                                            \
    do {                                                                                           \
        if (!gr_cuda_is_software())                                                                \
            skip("it is about the software CUDA driver, and %s is in use", gr_cuda_driver_path()); \
    } while (0)

/* A case of the suite with the kernels, which its teardown unloads. A child that launches begins
 * with soft_kernels_load(). */
TCase *add_soft_case(Suite *suite, const char *name);
void soft_kernels_load(void);

/* The file's compilations. */
const struct kernel_image *soft_kernels(void);

/* The extents of a launch. Those that are 0 are 1. */
struct extents {
    unsigned x, y, z;
};
void soft_launch(const char *name, struct extents grid, struct extents block, CUstream stream,
                 void **parameters);

/* The same, with that many bytes of dynamic shared memory; otherwise each thread has 4. */
void soft_launch_shared(const char *name, struct extents grid, struct extents block,
                        unsigned shared, CUstream stream, void **parameters);

/* A kernel of one thread, and its end: the result of the stream. */
CUresult soft_run(const char *name, void **parameters);

/* Device memory, and a copy of it that the caller frees. */
CUdeviceptr soft_memory(const void *bytes, size_t size);
void *soft_bytes(CUdeviceptr memory, size_t size);

/* For the parent: the child dies of a fault, and its message holds both texts. */
void expect_death(const char *child, const char *text, const char *also);

/* The child returns 0, and its message holds both texts, the first one once. */
void expect_said_once(const char *child, const char *text, const char *also);

/* A child, and the case in which it dies so. */
#define DIES(title, text, also)                                                                    \
    TEST(dies_##title)                                                                             \
    {                                                                                              \
        need_software();                                                                           \
        expect_death(#title, text, also);                                                          \
    }                                                                                              \
    CHILD(title)

#endif
