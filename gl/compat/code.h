/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Converts grinterop errors to the codes that the CUDA function would return. */
#ifndef GR_GL_COMPAT_CODE_H
#define GR_GL_COMPAT_CODE_H

#include <cuda.h>
#include <grinterop/gr.h>

#include "lib/base/printf.h"

/* Records an error with the driver code and a message, and returns the code. */
CUresult compat_refuse(CUresult code, const char *call, const char *format, ...) GR_PRINTF(3, 4);

/* Starts every call: loads the driver and refuses forked children. */
CUresult compat_begin(void);

/* Gets the thread's CUDA context. Returns an error if there is none. */
CUresult compat_current(CUcontext *current, const char *call);

/*
 * Returns the code of the thread's last error, for maps and later calls: the driver's code if there
 * is one, otherwise a code for the class of the error.
 */
CUresult compat_code(void);

#endif
