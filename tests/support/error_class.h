/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The gr_status class that belongs to a driver error. */
#ifndef GR_TESTS_ERROR_CLASS_H
#define GR_TESTS_ERROR_CLASS_H

#include <cuda.h>
#include <grinterop/gr.h>

/* The gr_status class of a driver error with this code. */
static inline gr_status class_of_code(int code)
{
    if (code == CUDA_ERROR_OUT_OF_MEMORY)
        return GR_ERR_NO_MEMORY;
    bool sticky = code == CUDA_ERROR_ILLEGAL_ADDRESS || code == CUDA_ERROR_LAUNCH_FAILED;
    return sticky ? GR_ERR_DEVICE_LOST : GR_ERR_CUDA;
}

#endif
