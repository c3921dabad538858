/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the source files of test_surface: kernels that access images. */
#ifndef GR_TESTS_SURFACE_TESTS_H
#define GR_TESTS_SURFACE_TESTS_H

#include "tests/support/support_image.h"

/*
 * Loads the kernels of image_kernels.cu for the case. Returns NULL, or the reason why the case must
 * be skipped.
 */
const char *image_kernels_load(void);

#define IMAGE_KERNEL_TEST(...) TEST_UNLESS(image_kernels_load(), __VA_ARGS__)

/* Launches a kernel on fx.stream, with a thread for each of `count` elements. */
void image_kernel(const char *name, size_t count, void **parameters);

/* Allocates device memory until the end of the case. If `bytes` is NULL, it is undefined. */
CUdeviceptr device_copy(const void *bytes, size_t size);

/* Write or read a whole level through its surface, with the kernel for the element type. */
void surface_store(CUsurfObject surface, const struct image *image, unsigned level,
                   const void *texels);
void surface_load(CUsurfObject surface, const struct image *image, unsigned level, void *texels);

/* Adds a case whose teardown unloads the module of the kernels. */
TCase *add_kernel_case(Suite *suite, const char *name);

#endif
