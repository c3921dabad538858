/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A picture: the interpretation of a tensor, a mapped image or a part of a buffer, for a publish or
 * a fetch.
 */
#ifndef GR_LIB_PUBLISH_PICTURE_H
#define GR_LIB_PUBLISH_PICTURE_H

#include <grinterop/publish.h>

#include "lib/publish/job.h"

#define GR_SHAPED_TEXT 256

/* Elements with a shape: a tensor, or a buffer as the options describe it. */
struct gr_shaped {
    const char *what; /* the noun for messages, such as "the tensor" */
    gr_dtype dtype;
    gr_layout layout;
    unsigned ndim;
    int64_t shape[GR_TENSOR_DIMS];
    int64_t strides[GR_TENSOR_DIMS]; /* in bytes */
    uint64_t base;                   /* the address of element 0 */
    gr_memory memory;
};

struct gr_picture {
    gr_dtype dtype;
    bool is_number; /* integers are numbers, not fractions of the largest integer */
    bool in_array;  /* the picture is in a CUDA array and has no strides */
    bool is_yuv;    /* the picture has the planes `chroma` */
    gr_memory memory;
    uint64_t base;      /* the address, or the CUDA array */
    size_t array_slice; /* the first slice of the picture in the CUDA array */
    int64_t width, height, depth;
    unsigned channels;
    int64_t pixel, row, slice, channel; /* bytes to the next pixel, row, slice and channel */
    struct gr_job_chroma chroma;
    struct gr_shaped shaped; /* for messages */
};

/*
 * Writes a description, such as "the tensor is (3, 4) of uint8", and returns it. The macros do so
 * for a message; the text of GR_SENTENCE() begins with a capital letter.
 */
const char *gr_shaped_text(const struct gr_shaped *shaped, char text[GR_SHAPED_TEXT], bool capital);
#define GR_PHRASE(of)   gr_shaped_text(&(of)->shaped, (char[GR_SHAPED_TEXT]){0}, false)
#define GR_SENTENCE(of) gr_shaped_text(&(of)->shaped, (char[GR_SHAPED_TEXT]){0}, true)

/*
 * Interprets the shape as a picture of one slice, or of several slices if `volume` is set. `chroma`
 * may be NULL. Refuses all other shapes.
 */
gr_status gr_picture_read(const struct gr_shaped *shaped, const struct gr_shaped *chroma,
                          bool volume, struct gr_picture *picture, const char *call);

/*
 * Makes two pictures of one channel from two tensors of equal shape, by joining dimensions. False
 * if too many dimensions for a picture are left.
 */
bool gr_pictures_of_elements(const struct gr_shaped *a, const struct gr_shaped *b,
                             struct gr_picture *of_a, struct gr_picture *of_b);

/* Flips the picture vertically. Refuses chroma planes whose rows would not match. */
gr_status gr_picture_flip(struct gr_picture *picture, const char *call);

#endif
