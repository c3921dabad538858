/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A picture: what a tensor, a mapped image or a part of a buffer is to a publish or a fetch. */
#ifndef GR_LIB_PUBLISH_PICTURE_H
#define GR_LIB_PUBLISH_PICTURE_H

#include <ctype.h>
#include <grinterop/publish.h>

#include "lib/publish/job.h"

#define GR_SHAPED_TEXT 176

/* Elements with a shape, from a tensor or a description of what a buffer holds. */
struct gr_shaped {
    const char *what; /* "the tensor" */
    gr_dtype dtype;
    gr_layout layout;
    unsigned ndim;
    int64_t shape[GR_TENSOR_DIMS];
    int64_t strides[GR_TENSOR_DIMS]; /* bytes */
    uint64_t base;                   /* the address of element 0 */
    gr_memory memory;
};

/* The planes of colour, where there are some. */
struct gr_planes {
    bool there;
    uint64_t u, v;
    int64_t pixel, row;
    unsigned x_shift, y_shift;
};

struct gr_picture {
    gr_dtype dtype;
    bool is_number; /* its integers are numbers, not parts of the largest */
    bool in_array; /* of CUDA: without an address, packed, and what `pixel` and so on say is void */
    gr_memory memory;
    uint64_t base;
    int64_t width, height, depth;
    unsigned channels;
    int64_t pixel, row, slice, channel; /* bytes to the next one */
    struct gr_planes colour;
    char text[GR_SHAPED_TEXT]; /* "the tensor is (1080, 1920, 3) of uint8" */
};

/* Such a text at the start of a sentence, for "%c%s". */
#define GR_SENTENCE(text) toupper((unsigned char)(text)[0]), (text) + 1

/* Writes "the tensor is (3, 4) of uint8". */
void gr_shaped_text(const struct gr_shaped *shaped, char text[GR_SHAPED_TEXT]);

/*
 * Reads the shape as a picture of one slice, or of several (`volume`). `chroma` may be NULL.
 * Refuses what is none.
 */
gr_status gr_picture_read(const struct gr_shaped *shaped, const struct gr_shaped *chroma,
                          bool volume, struct gr_picture *picture, const char *call);

/*
 * Makes two pictures of one channel of elements whose shapes are equal, by joining dimensions; of
 * none, false: they have too many that can't be joined.
 */
bool gr_pictures_of_elements(const struct gr_shaped *a, const struct gr_shaped *b,
                             struct gr_picture *of_a, struct gr_picture *of_b);

/* The first row becomes the last. Refuses planes of colour whose rows would not fit. */
gr_status gr_picture_flip(struct gr_picture *picture, const char *call);

#endif
