/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Converts between the runtime's channel descriptions and the driver's formats. */
#ifndef GR_SOFTCUDA_RUNTIME_CHANNEL_H
#define GR_SOFTCUDA_RUNTIME_CHANNEL_H

#include "softcuda/runtime/runtime.h"

typedef struct {
    CUarray_format format;
    unsigned channels;
} rt_format;

/* Returns cudaErrorInvalidChannelDescriptor for a description that no array can have. */
CUresult rt_format_of(const struct cudaChannelFormatDesc *desc, rt_format *format);

struct cudaChannelFormatDesc rt_channel_of(CUarray_format format, unsigned channels);

/* Bytes per element; 0 if the format has no such size or is unknown. */
size_t rt_element_size(CUarray_format format, unsigned channels);

#endif
