/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Converts between channel descriptions of the runtime API and formats of the driver API. */
#ifndef GR_SOFTCUDA_RUNTIME_CHANNEL_H
#define GR_SOFTCUDA_RUNTIME_CHANNEL_H

#include "softcuda/runtime/runtime.h"

typedef struct {
    CUarray_format format;
    unsigned channels;
} rt_format;

/* Converts a description to a format; cudaErrorInvalidChannelDescriptor if no array can have it. */
CUresult rt_format_of(const struct cudaChannelFormatDesc *desc, rt_format *format);

struct cudaChannelFormatDesc rt_channel_of(CUarray_format format, unsigned channels);

/* The number of bytes per element; 0 for a format that is unknown or has no fixed size. */
size_t rt_element_size(CUarray_format format, unsigned channels);

#endif
