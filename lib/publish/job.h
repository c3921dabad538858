/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The parameters of the kernels in kernels.cu: two pictures, and the conversion between them. The
 * library fills them in. nvcc and the C++ compiler of the host include this header, too.
 */
#ifndef GR_LIB_PUBLISH_JOB_H
#define GR_LIB_PUBLISH_JOB_H

#include <stdint.h>

#include "lib/tensor/element_types.h"

/* The number of consecutive pixels per thread. */
#define GR_JOB_PIXELS 4u

/* The threads of a block: their number along a row, and the number of rows. */
#define GR_JOB_BLOCK_WIDTH  32u
#define GR_JOB_BLOCK_HEIGHT 8u

/* Where a picture is stored. */
enum gr_job_place {
    GR_JOB_MEMORY = 0,
    GR_JOB_SURFACE = 1,
    GR_JOB_LAYERED = 2, /* a layered surface */
    GR_JOB_VOLUME = 3   /* a surface of a 3D image */
};

/* How the pixels of a thread lie in memory. Adjacent pixels are aligned for wide loads. */
enum gr_job_access {
    GR_JOB_STRIDED = 0, /* at any distance from each other */
    GR_JOB_PACKED = 1,  /* adjacent pixels with adjacent channels */
    GR_JOB_PLANAR = 2,  /* adjacent pixels within the plane of each channel */
    GR_JOB_WOVEN = 3    /* of chroma: adjacent pixels, whose luma and chroma alternate */
};

/* The types that kernels convert: GR_JOB_U8 and so on. */
enum gr_job_element {
#define ELEMENT(constant, kernel, size, name, typestr, code) GR_JOB_##constant,
    GR_COMMON_TYPES(ELEMENT)
    /* not a type of tensors: depth of 24 bits, as fractions of the largest integer of 32 bits */
    GR_JOB_D24,
    GR_NARROW_TYPES(ELEMENT) GR_WIDE_TYPES(ELEMENT)
    /* pixels in one word, named as GR_FORMAT_A2B10G10R10 and so on */
    GR_JOB_A2B10G10R10,
    GR_JOB_A2R10G10B10,
    GR_JOB_B10G11R11,
    GR_JOB_E5B9G9R9,
    GR_JOB_R5G6B5,
    GR_JOB_B5G6R5,
#undef ELEMENT
};

/* The conversion steps, in this order. */
#define GR_JOB_GREY     1u  /* one channel becomes three */
#define GR_JOB_OPAQUE   2u  /* the fourth channel is `alpha` */
#define GR_JOB_SWAP     4u  /* the first and the third channel are swapped */
#define GR_JOB_DECODE   8u  /* sRGB colours become linear */
#define GR_JOB_DISTANCE 16u /* depth becomes distance */
#define GR_JOB_SCALE    32u /* values are multiplied by `scale`, and `bias` is added */
#define GR_JOB_ENCODE   64u /* linear colours become sRGB */

struct gr_job_side {
    uint64_t base; /* a surface, or the address of the first element */
    int64_t pixel; /* for memory only: bytes to the next pixel, row, slice and channel */
    int64_t row;
    int64_t slice;
    int64_t channel;
    uint32_t place;
    uint32_t access;
    uint32_t element;
    uint32_t bytes; /* the size of an element in bytes */
    uint32_t channels;
    uint32_t layer;    /* of a layered surface or a 3D image: the first one */
    int32_t left, top; /* in a surface: the first byte of each row, and the first row */
    /*
     * If slices are tiles of one slice: how many a row of tiles has, otherwise 0; the distance to
     * the next tile of a row, and to the next row of tiles; the first row of the first tile.
     */
    uint32_t columns;
    int32_t across, down, first;
    /* the stored value that means 1: 1 for floats, and for integers that are plain numbers */
    float unit;
    float lowest; /* for integers of 8 and 16 bits: the range of the values, to 1 or to a number */
    float highest;
    int32_t least; /* for the same: the range of the integers, and the sign bit */
    int32_t most;
    uint32_t sign;
};

struct gr_job_plane {
    uint64_t base;
    int64_t pixel; /* bytes to the next sample and row */
    int64_t row;
};

/* The chroma that belongs to luma. */
struct gr_job_chroma {
    struct gr_job_plane u;
    struct gr_job_plane v;
    uint32_t x_shift; /* 1: one sample per two pixels in a row */
    uint32_t y_shift;
    uint32_t access; /* GR_JOB_PACKED: u and v interleaved, one pair per two pixels */
    uint32_t luma;   /* the channel of luma: 1 if it follows chroma, as in UYVY */
};

/*
 * The weights of the pixels from which a sample of chroma is made: those in the columns before, at
 * and after its first pixel, and those in its two rows and in another one, `other_row` rows from
 * the first; by how many bits the stored values are shifted; the largest one.
 */
struct gr_job_samples {
    float column_weights[3];
    float row_weights[3];
    int32_t other_row;
    uint32_t low_bits;
    float most;
};

/*
 * Depth becomes z_near / ((1 - depth) * weights[0] + depth * weights[1]), a form in which nothing
 * cancels: no weight is negative, and 1 - depth is exact from 0.5 on.
 */
struct gr_job_distance {
    double z_near;
    double weights[2];
};

struct gr_job {
    struct gr_job_side from;
    struct gr_job_side to;
    struct gr_job_chroma chroma;
    struct gr_job_samples samples; /* to YUV */
    uint32_t width;
    uint32_t height;
    uint32_t depth;
    uint32_t row_shift; /* 1: each thread converts two rows */
    uint32_t steps;     /* GR_JOB_GREY and so on */
    uint64_t raw_fill;  /* the bits of a missing channel, if bits are copied unchanged */
    struct gr_job_distance distance;
    float alpha;
    float scale[4];
    float bias[4];
    double alpha_f64; /* the same for the kernel that computes in doubles */
    double scale_f64[4];
    double bias_f64[4];
    /*
     * One row each for red, green and blue: factors of luma, u and v, and an offset. To YUV: one
     * row each for luma, u and v.
     */
    float matrix[12];
};

#endif
