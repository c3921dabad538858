/* SPDX-License-Identifier: Apache-2.0 */
/* The files of test_surface.c: kernels over images. */
#ifndef GR_TESTS_SURFACE_TESTS_H
#define GR_TESTS_SURFACE_TESTS_H

#include "tests/support/support_image.h"

/* Loads the kernels of image_kernels.cu for the case. NULL, or why the case has to be skipped. */
const char *image_kernels_load(void);

#define IMAGE_KERNEL_TEST(...) TEST_UNLESS(image_kernels_load(), __VA_ARGS__)

/* Launches one of them on fx.stream, a thread for each of `count` elements. */
void image_kernel(const char *name, size_t count, void **parameters);

/* Device memory with these bytes (NULL: any), until the end of the case. */
CUdeviceptr device_copy(const void *bytes, size_t size);

/* Stores or loads all of a surface of this image's level by the kernels of its element type. */
void surface_store(CUsurfObject surface, const struct image *image, unsigned level,
                   const void *texels);
void surface_load(CUsurfObject surface, const struct image *image, unsigned level, void *texels);

/* A case with the kernels' module, which its teardown unloads. */
TCase *add_kernel_case(Suite *suite, const char *name);

/* Children that have to die. */
int use_surface_after_release(void);
int use_texture_after_release(void);

#endif
