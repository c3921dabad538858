/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the tests of publish.h: tensors with known values, and a simple reference for the
 * result of a publish or a fetch.
 */
#ifndef GR_TESTS_PUBLISH_SUPPORT_H
#define GR_TESTS_PUBLISH_SUPPORT_H

#include "tests/support/support_image.h"
#include "tests/tensor/tensor.h"

#include <grinterop/publish.h>

/* ---- Elements -------------------------------------------------------------------------------- */

/* A picture with elements of one type, in memory of the test; strides are in bytes. */
struct elements {
    gr_dtype dtype;
    bool is_number; /* integers are plain numbers, not fractions of the largest value */
    unsigned width, height, channels;
    int64_t pixel, row, channel;
    unsigned char *bytes; /* element 0 */
};

/* Converts a float to the bits of the type. */
uint64_t element_bits(gr_dtype dtype, float value);

/* Whether integers of this type are always numbers. */
bool is_number(gr_dtype dtype);

/* The value of an element, as the graphics API reads it. */
double element_value(const struct elements *elements, unsigned x, unsigned y, unsigned channel);

/*
 * Fills all elements: integers with all their values, floats from slightly below 0 to above 1, or
 * numbers from -20 to 300.
 */
void elements_fill(const struct elements *elements, unsigned seed);

/* ---- The reference --------------------------------------------------------------------------- */

/*
 * Returns NULL, or how `to` differs from what a transfer of `from` must give. With `fetch` set,
 * `to` is the tensor.
 */
const char *transfer_differs(const struct elements *from, const struct elements *to,
                             const gr_publish_options *options, bool fetch);

/* ---- Tensors --------------------------------------------------------------------------------- */

/* A tensor on the device, and its bytes on the host. */
struct device_tensor {
    gr_tensor *tensor;
    CUdeviceptr memory; /* 0: the tensor is on the host */
    size_t size;        /* the size of the memory */
    struct elements elements;
    unsigned char *bytes; /* the bytes of the memory */
};

/* tensor_make() uses host memory. */
extern bool tensors_on_host;

/*
 * A tensor (H,W,C) or (C,H,W), or (H,W) if `channels` is 0, with `gap` bytes between rows and
 * before the first element, filled from `seed`.
 */
struct device_tensor tensor_make(gr_dtype dtype, gr_layout layout, unsigned width, unsigned height,
                                 unsigned channels, size_t gap, bool is_number, unsigned seed);

/* Copies the bytes to or from the device, and waits. */
void tensor_put(const struct device_tensor *tensor);
void tensor_get(const struct device_tensor *tensor);
void tensor_end(struct device_tensor *tensor);

/*
 * Creates a tensor in device memory, which lives until the end of the case. If `bytes` is NULL, the
 * contents are undefined.
 */
gr_tensor *tensor_of(gr_dtype dtype, gr_layout layout, unsigned ndim, const int64_t *shape,
                     const void *bytes);
void tensors_end(void);

/* Wraps host memory, which kernels cannot access. */
gr_tensor *tensor_on_host(gr_dtype dtype, unsigned ndim, const int64_t *shape,
                          const int64_t *strides, const void *bytes);

/* ---- Images ---------------------------------------------------------------------------------- */

gr_dtype image_dtype(const struct image_format *format);

/* The texels of level 0 of the image, as elements in `bytes`. */
struct elements image_elements(const struct image *image, unsigned char *bytes);

/*
 * Returns NULL if the kernels of the library are available for this driver, or the reason for a
 * skip.
 */
const char *publish_kernels_missing(void);
#define need_publish_kernels()                                                                     \
    do {                                                                                           \
        const char *none_ = publish_kernels_missing();                                             \
        if (none_)                                                                                 \
            skip("%s", none_);                                                                     \
    } while (0)

#endif
