/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Returns the element type of each CUDA array format. */
#ifndef GR_LIB_TENSOR_ARRAY_DTYPE_H
#define GR_LIB_TENSOR_ARRAY_DTYPE_H

#include <cuda.h>
#include <grinterop/tensor.h>

/* Returns the dtype; 0 for formats without plain channels. */
static inline gr_dtype gr_array_dtype(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
        return GR_DTYPE_U8;
    case CU_AD_FORMAT_UNSIGNED_INT16:
        return GR_DTYPE_U16;
    case CU_AD_FORMAT_UNSIGNED_INT32:
        return GR_DTYPE_U32;
    case CU_AD_FORMAT_SIGNED_INT8:
        return GR_DTYPE_I8;
    case CU_AD_FORMAT_SIGNED_INT16:
        return GR_DTYPE_I16;
    case CU_AD_FORMAT_SIGNED_INT32:
        return GR_DTYPE_I32;
    case CU_AD_FORMAT_HALF:
        return GR_DTYPE_F16;
    case CU_AD_FORMAT_FLOAT:
        return GR_DTYPE_F32;
    default:
        return (gr_dtype)0;
    }
}

#endif
