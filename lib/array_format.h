/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Channel sizes of CUDA array formats. */
#ifndef GR_LIB_ARRAY_FORMAT_H
#define GR_LIB_ARRAY_FORMAT_H

#include <cuda.h>

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

#endif
