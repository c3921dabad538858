/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/runtime/channel.h"

/* The formats that can be identified by the width of a channel and a basic kind. */
static const struct {
    CUarray_format format;
    int bits;
    enum cudaChannelFormatKind kind;
} plain[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
    {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat},
};

/*
 * Formats that kernels read as numbers between 0 or -1 and 1, in the order of their
 * cudaChannelFormatKind values.
 */
static const struct {
    CUarray_format format;
    int bits;
    int channels;
} normalized[] = {
    {CU_AD_FORMAT_UNORM_INT8X1, 8, 1},   {CU_AD_FORMAT_UNORM_INT8X2, 8, 2},
    {CU_AD_FORMAT_UNORM_INT8X4, 8, 4},   {CU_AD_FORMAT_UNORM_INT16X1, 16, 1},
    {CU_AD_FORMAT_UNORM_INT16X2, 16, 2}, {CU_AD_FORMAT_UNORM_INT16X4, 16, 4},
    {CU_AD_FORMAT_SNORM_INT8X1, 8, 1},   {CU_AD_FORMAT_SNORM_INT8X2, 8, 2},
    {CU_AD_FORMAT_SNORM_INT8X4, 8, 4},   {CU_AD_FORMAT_SNORM_INT16X1, 16, 1},
    {CU_AD_FORMAT_SNORM_INT16X2, 16, 2}, {CU_AD_FORMAT_SNORM_INT16X4, 16, 4},
};
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/*
 * The number of channels: one, two or four leading channels of equal width. 0 for any other layout.
 */
static unsigned channels_of(const struct cudaChannelFormatDesc *desc)
{
    const int bits[4] = {desc->x, desc->y, desc->z, desc->w};
    unsigned channels = 0;
    while (channels < 4 && bits[channels] == desc->x)
        channels++;
    for (unsigned i = channels; i < 4; i++)
        if (bits[i] != 0)
            return 0;
    return channels == 3 ? 0 : channels;
}

CUresult rt_format_of(const struct cudaChannelFormatDesc *desc, rt_format *format)
{
    format->channels = channels_of(desc);
    int named = (int)desc->f - (int)cudaChannelFormatKindUnsignedNormalized8X1;
    if (named >= 0 && (size_t)named < COUNT(normalized)) {
        format->format = normalized[named].format;
        format->channels = (unsigned)normalized[named].channels;
        return CUDA_SUCCESS;
    }
    for (size_t i = 0; i < COUNT(plain) && format->channels > 0; i++)
        if (plain[i].kind == desc->f && plain[i].bits == desc->x) {
            format->format = plain[i].format;
            return CUDA_SUCCESS;
        }
    return (CUresult)cudaErrorInvalidChannelDescriptor;
}

static struct cudaChannelFormatDesc describe(int bits, unsigned channels,
                                             enum cudaChannelFormatKind kind)
{
    return (struct cudaChannelFormatDesc){.x = bits,
                                          .y = channels > 1 ? bits : 0,
                                          .z = channels > 2 ? bits : 0,
                                          .w = channels > 3 ? bits : 0,
                                          .f = kind};
}

struct cudaChannelFormatDesc rt_channel_of(CUarray_format format, unsigned channels)
{
    for (size_t i = 0; i < COUNT(plain); i++)
        if (plain[i].format == format)
            return describe(plain[i].bits, channels, plain[i].kind);
    for (size_t i = 0; i < COUNT(normalized); i++)
        if (normalized[i].format == format)
            return describe(normalized[i].bits, (unsigned)normalized[i].channels,
                            (enum cudaChannelFormatKind)(
                                (int)cudaChannelFormatKindUnsignedNormalized8X1 + (int)i));
    return describe(0, 0, cudaChannelFormatKindNone);
}

size_t rt_element_size(CUarray_format format, unsigned channels)
{
    struct cudaChannelFormatDesc desc = rt_channel_of(format, channels);
    return (size_t)(desc.x + desc.y + desc.z + desc.w) / 8;
}

SOFT_EXPORTED struct cudaChannelFormatDesc CUDARTAPI
cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){.x = x, .y = y, .z = z, .w = w, .f = f};
}
