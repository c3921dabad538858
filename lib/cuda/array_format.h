/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* CUDA array formats: the sizes of their channels, texels and blocks. */
#ifndef GR_LIB_CUDA_ARRAY_FORMAT_H
#define GR_LIB_CUDA_ARRAY_FORMAT_H

#include <grinterop/cuda_types.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/base/cuda_abi.h"

/* Short names of CUDA array formats, for the tables of formats. */
#define U8  CU_AD_FORMAT_UNSIGNED_INT8
#define U16 CU_AD_FORMAT_UNSIGNED_INT16
#define U32 CU_AD_FORMAT_UNSIGNED_INT32
#define S8  CU_AD_FORMAT_SIGNED_INT8
#define S16 CU_AD_FORMAT_SIGNED_INT16
#define S32 CU_AD_FORMAT_SIGNED_INT32
#define F16 CU_AD_FORMAT_HALF
#define F32 CU_AD_FORMAT_FLOAT

/* Returns the bytes per channel; 0 for formats without plain channels. */
static inline unsigned gr_channel_bytes(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4;
    default:
        return 0;
    }
}

/* Whether the values are integers, not fractions. */
static inline bool gr_format_is_integer(unsigned format, bool normalized)
{
    return !normalized && format != CU_AD_FORMAT_HALF && format != CU_AD_FORMAT_FLOAT;
}

static inline bool gr_format_is_compressed(unsigned format)
{
    return format >= GR_FORMAT_BC1_UNORM && format <= GR_FORMAT_BC7_UNORM_SRGB;
}

/* Returns the bytes of a texel in a format that CUDA lacks, whose texels it has as one integer. */
static inline unsigned gr_word_bytes(unsigned format)
{
    if (format < GR_FORMAT_A2B10G10R10 || format > GR_FORMAT_B5G6R5)
        return 0;
    return format < GR_FORMAT_R5G6B5 ? 4 : 2;
}

/* Returns the number of channels of a packed or compressed format; 0 for other formats. */
static inline unsigned gr_packed_channels(unsigned format)
{
    static const unsigned char blocks[] = {4, 4, 4, 4, 4, 4, 1, 1, 2, 2, 3, 3, 4, 4};
    if (gr_format_is_compressed(format))
        return blocks[format - GR_FORMAT_BC1_UNORM];
    if (gr_word_bytes(format))
        return format > GR_FORMAT_A2R10G10B10 ? 3 : 4;
    return format == GR_FORMAT_UNORM_INT_101010_2 ? 4 : 0;
}

/* Describes the texels of a CUDA array for images of a format. */
static inline void gr_array_set_format(CUDA_ARRAY3D_DESCRIPTOR *array, unsigned format,
                                       unsigned channels)
{
    const unsigned word = gr_word_bytes(format);
    array->Format = word == 4 ? U32 : word == 2 ? U16 : (CUarray_format)format;
    array->NumChannels = word ? 1 : channels;
}

/* The unit in which an image is stored: a texel, or a compressed block of texels. */
struct gr_element {
    unsigned bytes; /* 0 for unknown formats */
    unsigned side;  /* its width and height in texels */
};

static inline struct gr_element gr_format_element(unsigned format, unsigned channels)
{
    const bool small = format == GR_FORMAT_BC1_UNORM || format == GR_FORMAT_BC1_UNORM_SRGB ||
                       format == GR_FORMAT_BC4_UNORM || format == GR_FORMAT_BC4_SNORM;
    if (gr_format_is_compressed(format))
        return (struct gr_element){small ? 8 : 16, 4};
    if (format == GR_FORMAT_UNORM_INT_101010_2)
        return (struct gr_element){4, 1};
    if (gr_word_bytes(format))
        return (struct gr_element){gr_word_bytes(format), 1};
    return (struct gr_element){gr_channel_bytes((CUarray_format)format) * channels, 1};
}

/* Returns how many elements cover this many texels along the width or height. */
static inline size_t gr_elements_across(struct gr_element element, size_t texels)
{
    return texels / element.side + (texels % element.side != 0);
}

#endif
