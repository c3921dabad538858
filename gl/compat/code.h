/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Converts grinterop errors to the codes that the CUDA call would return. */
#ifndef GR_GL_COMPAT_CODE_H
#define GR_GL_COMPAT_CODE_H

#include <cuda.h>
#include <grinterop/gr.h>

#include "lib/printf.h"

/* Records an error with the driver code and a message, and returns the code. */
CUresult compat_refuse(CUresult code, const char *call, const char *format, ...) GR_PRINTF(3, 4);

/* Starts every call: loads the driver and refuses forked children. */
CUresult compat_begin(void);

/* The thread's CUDA context; an error without one. */
CUresult compat_current(CUcontext *current, const char *call);

/*
 * The code of the thread's last error: the driver's code if there is one, otherwise one for its
 * class, for maps and later calls.
 */
CUresult compat_code(void);

#endif
