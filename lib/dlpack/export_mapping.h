/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef GR_LIB_DLPACK_EXPORT_MAPPING_H
#define GR_LIB_DLPACK_EXPORT_MAPPING_H

#include <grinterop/tensor.h>

/* The tensor of an export of this library. NULL: `managed` is of another producer. */
gr_tensor *gr_dlpack_exported(const void *managed);

#endif
