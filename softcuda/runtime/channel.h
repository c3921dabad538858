/* SPDX-License-Identifier: Apache-2.0 */
/* A channel description of the runtime API as the driver's format and number of channels. */
#ifndef GR_SOFTCUDA_RUNTIME_CHANNEL_H
#define GR_SOFTCUDA_RUNTIME_CHANNEL_H

#include "softcuda/runtime/runtime.h"

typedef struct {
    CUarray_format format;
    unsigned channels;
} rt_format;

/* cudaErrorInvalidChannelDescriptor for what no array can hold. */
CUresult rt_format_of(const struct cudaChannelFormatDesc *desc, rt_format *format);

struct cudaChannelFormatDesc rt_channel_of(CUarray_format format, unsigned channels);

/* Bytes of an element; 0 for a format that has none, or is not known. */
size_t rt_element_size(CUarray_format format, unsigned channels);

#endif
