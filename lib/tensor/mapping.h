/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of a mapping. */
#ifndef GR_LIB_TENSOR_MAPPING_H
#define GR_LIB_TENSOR_MAPPING_H

#include "lib/tensor/tensor_types.h"

/* Element 0 is at `ptr`, and the memory is `room` bytes from `low` on; the mapping lives. */
gr_tensor *gr_tensor_of_mapping(gr_buffer *buffer, gr_tensor *tensor, CUdeviceptr ptr,
                                CUdeviceptr low, size_t room, const char *call);

#endif
