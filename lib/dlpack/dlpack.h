/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What imports and exports of DLPack share. */
#ifndef GR_LIB_DLPACK_DLPACK_H
#define GR_LIB_DLPACK_DLPACK_H

#include <dlpack/dlpack.h>

#include <grinterop/tensor.h>

/* Finds the type, ignoring the lanes. 0: grinterop has no such type. */
gr_dtype gr_dlpack_dtype(DLDataType type);

/* The tensor of an export of this library. NULL: `managed` is of another producer. */
gr_tensor *gr_dlpack_exported(const void *managed);

/* Refuses an unknown form. */
gr_status gr_dlpack_check(gr_dlpack form);

#endif
