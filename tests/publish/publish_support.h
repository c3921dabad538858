/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of publish.h share: tensors of known values, and a plain reference of what a
 * publish or a fetch has to make of them.
 */
#ifndef GR_TESTS_PUBLISH_SUPPORT_H
#define GR_TESTS_PUBLISH_SUPPORT_H

#include "tests/support/support_image.h"

#include <grinterop/publish.h>

/* ---- Elements -------------------------------------------------------------------------------- */

/* Pictures of one type in memory of the test's; strides are bytes. */
struct elements {
    gr_dtype dtype;
    bool is_number; /* integers are themselves, not parts of the largest */
    unsigned width, height, channels;
    int64_t pixel, row, channel;
    unsigned char *bytes; /* element 0 */
};

/* The bits of a value that a float holds, in that type; and the value of bits. */
uint32_t element_bits(gr_dtype dtype, float value);
float element_float(gr_dtype dtype, uint32_t bits);

/* The value of an element, as the graphics API would read it. */
double element_value(const struct elements *elements, unsigned x, unsigned y, unsigned channel);

/* Fills all elements: integers by all their values, floats from a little below 0 to above 1, or of
 * numbers from -20 to 300. */
void elements_fill(const struct elements *elements, unsigned seed);

/* ---- The reference --------------------------------------------------------------------------- */

/* NULL, or how `to` is not what has to become of `from`; which of them is the tensor, says `fetch`.
 */
const char *transfer_differs(const struct elements *from, const struct elements *to,
                             const gr_publish_options *options, bool fetch);

/* ---- Tensors --------------------------------------------------------------------------------- */

/* A tensor on the device, and its bytes here. */
struct device_tensor {
    gr_tensor *tensor;
    CUdeviceptr memory;
    size_t size; /* of the memory */
    struct elements elements;
    unsigned char *bytes; /* of the memory */
};

/*
 * Of (H,W,C) or (C,H,W), or of (H,W) where `channels` is 0, with `gap` bytes between rows and
 * before the first element, filled by `seed`.
 */
struct device_tensor tensor_make(gr_dtype dtype, gr_layout layout, unsigned width, unsigned height,
                                 unsigned channels, size_t gap, bool is_number, unsigned seed);

/* Copies the bytes to the device, or from it, and waits. */
void tensor_put(const struct device_tensor *tensor);
void tensor_get(const struct device_tensor *tensor);
void tensor_end(struct device_tensor *tensor);

/* A tensor of any shape in the device's memory, whose bytes are `bytes` (NULL: any), until the end
 * of the case. */
gr_tensor *tensor_of(gr_dtype dtype, gr_layout layout, unsigned ndim, const int64_t *shape,
                     const void *bytes);
void tensors_end(void);

/* ---- Images ---------------------------------------------------------------------------------- */

gr_dtype image_dtype(const struct image_format *format);

/* The texels of the image's level 0 as elements in `bytes`. */
struct elements image_elements(const struct image *image, unsigned char *bytes);

/* The kernels of the library are there for this driver; else the reason for a skip. */
const char *publish_kernels_missing(void);
#define need_publish_kernels()                                                                     \
    do {                                                                                           \
        const char *none_ = publish_kernels_missing();                                             \
        if (none_)                                                                                 \
            skip("%s", none_);                                                                     \
    } while (0)

#endif
