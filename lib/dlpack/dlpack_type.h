/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Converts element types from and to DLPack. */
#ifndef GR_LIB_DLPACK_DLPACK_TYPE_H
#define GR_LIB_DLPACK_DLPACK_TYPE_H

#include <dlpack/dlpack.h>

#include <grinterop/tensor.h>

DLDataType gr_dlpack_type(gr_dtype dtype);

/* Converts from DLPack, ignoring the lanes. 0: grinterop has no such type. */
gr_dtype gr_dlpack_dtype(DLDataType type);

#endif
