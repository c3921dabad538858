/* SPDX-License-Identifier: Apache-2.0 */
/* grinterop's errors as the code that CUDA's own call would have given. */
#ifndef GR_GL_COMPAT_CODE_H
#define GR_GL_COMPAT_CODE_H

#include <grinterop/gr.h>

#include "lib/printf.h"

/* Records an error with the driver's code and a sentence, and returns the code. */
CUresult compat_refuse(CUresult code, const char *call, const char *format, ...) GR_PRINTF(3, 4);

/* What every call does first: the driver loaded, and not in a forked child. */
CUresult compat_begin(void);

/* The thread's CUDA context; without one it is an error. */
CUresult compat_current(CUcontext *current, const char *call);

/*
 * The code of the thread's last error: the driver's where it gave one, else of its class, for a map
 * or what comes later.
 */
CUresult compat_code(void);

#endif
