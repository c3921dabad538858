/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Exports the inline functions of the headers, for languages that call the library without them.
 * Those of cuda.h and compat.h need the headers of CUDA, so they are in programs only.
 */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define GR_INLINE GR_API

#include <grinterop/gr.h>
